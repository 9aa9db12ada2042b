import { hash } from 'node:crypto';
import type { Clock } from '../../kernel/clock.ts';
import type { Outcome } from '../../kernel/result.ts';

/** In use at once on one node; of more, those that were verified first are verified again. */
const MAX_TOKENS = 4_000;

/**
 * Remembers what a token says once it was verified, by the hash of it and until it ends, so that a token in use costs no
 * signature check. What was refused is not remembered: it takes no room, and may be good the next time.
 */
export function rememberVerified<
  T extends { readonly expiresAt: number },
  R extends { readonly reason: string },
>(
  clock: Pick<Clock, 'now'>,
  verify: (token: string) => Promise<Outcome<T, R>>,
): (token: string) => Promise<Outcome<T, R>> {
  const verified = new Map<string, Outcome<T, R> & { readonly ok: true }>();
  return async token => {
    const digest = hash('sha256', token, 'base64url');
    const known = verified.get(digest);
    if (known && known.value.expiresAt > clock.now()) return known;
    verified.delete(digest);
    const outcome = await verify(token);
    if (!outcome.ok) return outcome;
    if (verified.size >= MAX_TOKENS) verified.delete(verified.keys().next().value!);
    verified.set(digest, outcome);
    return outcome;
  };
}
