import { randomBytes, type ScryptOptions, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { sameBytes } from '../../kernel/digest.ts';
import { PlatformError } from '../../kernel/errors.ts';
import { createQueue } from '../../kernel/queue.ts';

/** Computes a key from a password: the work that makes guessing slow. */
export type DeriveKey = (
  password: string,
  salt: Uint8Array,
  bytes: number,
  options: ScryptOptions,
) => Promise<Buffer>;

/** Hashes of passwords. Each call is one hash of work; both reject with `unavailable` when too many wait for theirs. */
export interface Passwords {
  /** The text to store: `scrypt$<log2 N>$<r>$<p>$<salt>$<hash>`. */
  hash(password: string): Promise<string>;
  /** False for another password. Without a stored hash it is false after the same work. */
  verify(password: string, stored: string | undefined): Promise<boolean>;
}

/** OWASP's third choice (Password Storage Cheat Sheet, scrypt): as hard as the others, with 32 MiB at a time. */
const COST = { logN: 15, r: 8, p: 3 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
const AT_ONCE = 2;
/** So many take about ten seconds; who would wait longer is told to come back. */
const MAX_WAITING = 100;

const deriveKey: DeriveKey = promisify(scrypt) as DeriveKey;

export function createPasswords(derive: DeriveKey = deriveKey): Passwords {
  const queue = createQueue(AT_ONCE);
  const nobody = encode(COST, randomBytes(SALT_BYTES), randomBytes(HASH_BYTES));
  let inHand = 0;

  async function compute(password: string, { logN, r, p }: typeof COST, salt: Uint8Array): Promise<Buffer> {
    if (inHand >= AT_ONCE + MAX_WAITING)
      throw new PlatformError('unavailable', 'Too many people sign in at the moment; try again in a minute.');
    inHand += 1;
    const N = 2 ** logN;
    try {
      // The same letters may be typed in several ways; they are one password (NIST SP 800-63B, 3.1.1.2).
      const text = password.normalize('NFKC');
      return await queue(() => derive(text, salt, HASH_BYTES, { N, r, p, maxmem: 256 * N * r }));
    } finally {
      inHand -= 1;
    }
  }

  return {
    async hash(password) {
      const salt = randomBytes(SALT_BYTES);
      return encode(COST, salt, await compute(password, COST, salt));
    },
    async verify(password, stored) {
      const { cost, salt, hash } = decode(stored ?? nobody);
      const computed = await compute(password, cost, salt);
      const fits = sameBytes(computed, hash);
      return fits && stored !== undefined;
    },
  };
}

function encode({ logN, r, p }: typeof COST, salt: Buffer, hash: Buffer): string {
  return ['scrypt', logN, r, p, salt.toString('base64url'), hash.toString('base64url')].join('$');
}

function decode(stored: string) {
  const [, logN, r, p, salt = '', hash = ''] = stored.split('$');
  return {
    cost: { logN: Number(logN), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, 'base64url'),
    hash: Buffer.from(hash, 'base64url'),
  };
}
