import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';

/** Where a chain has come to: how many places it has, and the hash of the last one. */
export interface Link {
  readonly seq: number;
  readonly hash: string;
}

/** What goes into the hash of a place: values in a fixed order, then a text as it is stored. */
export interface LinkContent {
  readonly fields: readonly (string | number)[];
  readonly text: string;
}

/**
 * Hashes that only the holder of the key can make (docs/decisions, the audit trail is a chain). Each hash holds the one before
 * it; the head says how long the chain is, under a seal of its own, so that nobody can end it earlier.
 */
export interface Chain {
  /** Reads a head as `seal` wrote it. `undefined` when it is none of this chain, or was made without the key. */
  open(chain: string, head: string): Link | undefined;
  /** The link of what follows. */
  next(chain: string, before: Link, content: LinkContent): Link;
  /** The head of a chain that has come to `link`. */
  seal(chain: string, link: Link): string;
  /** Stands for a person in hashes: who is erased is replaced by it later, and the hashes hold. */
  pseudonym(userId: string): string;
}

export const CHAIN_START: Link = { seq: 0, hash: '' };

/** How an erased person's id reads: the mark, and their pseudonym. */
const ERASED = 'erased:';
const MAX_PSEUDONYMS = 1_000;
const HEAD = /^1\.(\d{1,15})\.([\w-]{43})\.([\w-]{43})$/;

export function createChain(key: Uint8Array): Chain {
  const secret = createSecretKey(key);
  const pseudonyms = new Map<string, string>();

  /** The tag says what the text is and in which version, so that no hash can stand for another. */
  const hmac = (tag: 'entry-1' | 'head-1' | 'user-1', text: string) =>
    createHmac('sha256', secret).update(`${tag}\n${text}`).digest('base64url');

  const sealOf = (chain: string, { seq, hash }: Link) => hmac('head-1', `${chain}\n${seq}\n${hash}`);

  return {
    open(chain, head) {
      const [, seq, hash, seal] = HEAD.exec(head) ?? [];
      if (hash === undefined || seal === undefined) return undefined;
      const link = { seq: Number(seq), hash };
      return timingSafeEqual(Buffer.from(seal), Buffer.from(sealOf(chain, link))) ? link : undefined;
    },
    next(chain, before, { fields, text }) {
      const seq = before.seq + 1;
      // JSON has no line break: where the text begins is not for the text to say.
      const place = JSON.stringify([chain, seq, ...fields]);
      return { seq, hash: hmac('entry-1', `${before.hash}\n${place}\n${text}`) };
    },
    seal: (chain, link) => `1.${link.seq}.${link.hash}.${sealOf(chain, link)}`,
    pseudonym(userId) {
      if (userId.startsWith(ERASED)) return userId.slice(ERASED.length);
      let known = pseudonyms.get(userId);
      if (known === undefined) {
        if (pseudonyms.size === MAX_PSEUDONYMS) pseudonyms.clear();
        known = hmac('user-1', userId);
        pseudonyms.set(userId, known);
      }
      return known;
    },
  };
}
