import type { Clock } from '../../kernel/clock.ts';

export interface TimeLimit {
  /** Aborts with the reason when the time is up, or with that of the outer signal. */
  readonly signal: AbortSignal;
  clear(): void;
}

/** Nobody reads it, and an error would be made for each call. */
const CLEARED = Symbol('cleared');

/** A time limit as a signal, joined with another one. */
export function timeLimit(
  clock: Pick<Clock, 'sleep'>,
  ms: number,
  reason: () => Error,
  outer?: AbortSignal,
): TimeLimit {
  const over = new AbortController();
  const cleared = new AbortController();
  clock.sleep(ms, cleared.signal).then(
    () => over.abort(reason()),
    () => undefined,
  );
  return {
    signal: outer ? AbortSignal.any([over.signal, outer]) : over.signal,
    clear: () => cleared.abort(CLEARED),
  };
}

/** What the work gives, or the signal's reason as soon as that comes; what the work comes to then is nobody's business here. */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  work.catch(() => undefined);
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    stop = () => signal.removeEventListener('abort', onAbort);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    stop();
  }
}
