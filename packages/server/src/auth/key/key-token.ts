import { randomBytes } from 'node:crypto';
import { sha256OfText } from '../../kernel/digest.ts';

/** `oag_` opens what its owner may open, `bak_` opens one agent (B-14, B-16). */
const KEY_PREFIX = { user: 'oag_', agent: 'bak_' } as const;

/** 256 random bits in hex behind the kind's prefix (BX-01, BX-02). */
export function newKeyToken(kind: 'user' | 'agent'): string {
  return KEY_PREFIX[kind] + randomBytes(32).toString('hex');
}

/** The kind, or `undefined` when the text has not the form of a key. */
export function keyKindOf(token: string): 'user' | 'agent' | undefined {
  if (/^oag_[0-9a-f]{64}$/.test(token)) return 'user';
  if (/^bak_[0-9a-f]{64}$/.test(token)) return 'agent';
  return undefined;
}

/** What the store keeps. A plain hash is enough: the key itself is random, there is nothing to guess. */
export function hashKeyToken(token: string): string {
  return sha256OfText(token);
}

/** Shown in lists, so that a person recognises the key. */
export function displayPrefix(token: string): string {
  return token.slice(0, 12);
}
