import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import type { VaultKey } from '../kernel/vault-key.ts';

/*
 * Envelope encryption: the vault key encrypts data keys, a data key encrypts secrets, each with AES-256-GCM and a random nonce.
 * What a ciphertext belongs to is authenticated with it, so a row that was moved, or changed beside its ciphertext, does not open.
 */

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;

/** A key for secrets, opened. */
export interface DataKey {
  readonly id: string;
  readonly bytes: Uint8Array;
}

export function newDataKey(id: string): DataKey {
  return { id, bytes: randomBytes(KEY_BYTES) };
}

export function wrapDataKey(vaultKey: VaultKey, dataKey: DataKey): Uint8Array {
  return encrypt(vaultKey.bytes, dataKey.bytes, ['data-key', dataKey.id, vaultKey.id]);
}

/** `undefined` when it was changed, or wrapped with another key or for another id. */
export function unwrapDataKey(vaultKey: VaultKey, id: string, wrapped: Uint8Array): DataKey | undefined {
  const bytes = decrypt(vaultKey.bytes, wrapped, ['data-key', id, vaultKey.id]);
  return bytes && { id, bytes };
}

/** What a secret is sealed for: nobody who can write rows may rename it, or let other agents have it. */
export interface SealedFor {
  readonly name: string;
  readonly allowedAgents: readonly string[];
}

export function sealSecret(dataKey: DataKey, { name, allowedAgents }: SealedFor, value: string): Uint8Array {
  return encrypt(dataKey.bytes, Buffer.from(value, 'utf8'), ['secret', name, dataKey.id, ...allowedAgents]);
}

/** `undefined` when it was changed, or is not what was sealed under this name, for these agents, with this key. */
export function openSecret(
  dataKey: DataKey,
  { name, allowedAgents }: SealedFor,
  sealed: Uint8Array,
): string | undefined {
  return decrypt(dataKey.bytes, sealed, ['secret', name, dataKey.id, ...allowedAgents])?.toString('utf8');
}

/** The same for what is no secret of the vault: `belongsTo` says what it is and whose, and opens nothing else. */
export function sealText(dataKey: DataKey, belongsTo: readonly string[], text: string): Uint8Array {
  return encrypt(dataKey.bytes, Buffer.from(text, 'utf8'), ['text', dataKey.id, ...belongsTo]);
}

/** `undefined` when it was changed, or is not what was sealed for this, with this key. */
export function openText(
  dataKey: DataKey,
  belongsTo: readonly string[],
  sealed: Uint8Array,
): string | undefined {
  return decrypt(dataKey.bytes, sealed, ['text', dataKey.id, ...belongsTo])?.toString('utf8');
}

/** Without the data key nobody can try values on it, and equal values of two names do not look alike. */
export function checksumOf(dataKey: DataKey, name: string, value: string): string {
  const key = createHmac('sha256', dataKey.bytes).update('patchbay checksum').digest();
  return createHmac('sha256', key).update(`${name}\0${value}`).digest('hex').slice(0, 16);
}

function encrypt(key: Uint8Array, plain: Uint8Array, belongsTo: readonly string[]): Uint8Array {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(associated(belongsTo));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function decrypt(key: Uint8Array, sealed: Uint8Array, belongsTo: readonly string[]): Buffer | undefined {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined;
  const end = sealed.length - TAG_BYTES;
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(associated(belongsTo));
  decipher.setAuthTag(sealed.subarray(end));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, end)), decipher.final()]);
  } catch {
    return undefined;
  }
}

/** JSON keeps the parts apart, whatever is in them. */
function associated(parts: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify(['patchbay-1', ...parts]), 'utf8');
}
