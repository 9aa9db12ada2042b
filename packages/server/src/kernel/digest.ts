import { createHash } from 'node:crypto';
import { canonicalJson } from './json.ts';

/** SHA-256 in hex of the canonical JSON: equal values have equal digests, whatever the order of their members. */
export function sha256OfJson(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}
