import { createHash, timingSafeEqual } from 'node:crypto';
import { canonicalJson } from './json.ts';

/** SHA-256 in hex of the canonical JSON: equal values have equal digests, whatever the order of their members. */
export function sha256OfJson(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}

/** SHA-256 in hex of the text: what is kept of a secret that is long and random, so that there is nothing to guess. */
export function sha256OfText(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Takes as long wherever they differ. Of bytes whose length is no secret. */
export function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
