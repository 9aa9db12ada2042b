import { createHmac } from 'node:crypto';

const BYTES = 32;
/** 32 random bytes have about 30 different ones; repetition and counting have few, or few differences. */
const MIN_VARIETY = 16;

/** What a vault key must be, as it follows "but it". */
export const VAULT_KEY_RULE =
  'must be 32 random bytes in base64 or hex, as `npx patchbay secrets new-key` makes them';

/** The key that the keys of the secrets are encrypted with. It is never in the database. */
export interface VaultKey {
  /** Tells two keys apart and says nothing else about them. */
  readonly id: string;
  readonly bytes: Uint8Array;
}

/** `undefined` for what is no key, is short, or cannot have come from a random source. */
export function parseVaultKey(text: string): VaultKey | undefined {
  const bytes = decode(text.trim());
  if (bytes?.length !== BYTES) return undefined;
  const steps = bytes.map((byte, at) => byte - (bytes[at - 1] ?? 0));
  const isText = bytes.every(byte => byte >= 0x20 && byte < 0x7f);
  if (isText || new Set(bytes).size < MIN_VARIETY || new Set(steps).size < MIN_VARIETY) return undefined;
  return {
    id: createHmac('sha256', bytes).update('patchbay vault key id').digest('hex').slice(0, 16),
    bytes,
  };
}

function decode(text: string): Buffer | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex');
  if (/^[A-Za-z0-9+/]{43}=?$/.test(text)) return Buffer.from(text, 'base64');
  return /^[A-Za-z0-9_-]{43}=?$/.test(text) ? Buffer.from(text, 'base64url') : undefined;
}
