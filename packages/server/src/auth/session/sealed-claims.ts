import { createHmac } from 'node:crypto';
import { sameBytes } from '../../kernel/digest.ts';
import { granted, type Outcome, refused } from '../../kernel/result.ts';

export type SealRefusal = { readonly reason: 'malformed' | 'bad-signature' };

const ENCODED = /^[\w-]+$/;

/**
 * Claims as a text that its holder can neither guess nor change: `<claims>.<mac>`, both base64url, so it is visible ASCII. What is
 * sealed for one purpose opens for no other.
 */
export function sealClaims(claims: readonly unknown[], secret: Uint8Array, purpose: string): string {
  const payload = Buffer.from(JSON.stringify(claims)).toString('base64url');
  return `${payload}.${mac(purpose + payload, secret).toString('base64url')}`;
}

/** The claims in the form they were sealed in: whoever sealed them knows it. */
export function openClaims(
  text: string,
  secret: Uint8Array,
  { purpose, maxLength }: { readonly purpose: string; readonly maxLength: number },
): Outcome<readonly unknown[], SealRefusal> {
  const [payload, signature, ...rest] = text.split('.');
  // A purpose is no part of them: its text is in no alphabet of theirs.
  const isPlain = payload !== undefined && ENCODED.test(payload);
  if (!isPlain || !signature || rest.length > 0 || text.length > maxLength)
    return refused({ reason: 'malformed' });
  const given = Buffer.from(signature, 'base64url');
  const right = mac(purpose + payload, secret);
  if (!sameBytes(given, right)) return refused({ reason: 'bad-signature' });
  return granted(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as readonly unknown[]);
}

function mac(text: string, secret: Uint8Array): Buffer {
  return createHmac('sha256', secret).update(text).digest();
}
