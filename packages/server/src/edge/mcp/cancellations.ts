/** One running call: its signal, and how to say that it ended. */
export interface Cancellation {
  readonly signal: AbortSignal;
  done(): void;
}

/**
 * Calls of the older eras that a `notifications/cancelled` may end. Clients use ids as they like, one even id 1 for
 * everything (field-reports 2.18), so an id names a set, and only within one session of one credential.
 */
export class Cancellations {
  readonly #running = new Map<string, Set<AbortController>>();

  /** Registers a call; `done` must be called when it ends. Outside a session there is nothing that could cancel it. */
  register(session: string | undefined, requestId: string | number): Cancellation {
    if (session === undefined) return { signal: new AbortController().signal, done: () => {} };
    const key = keyOf(session, requestId);
    const controller = new AbortController();
    const calls = this.#running.get(key) ?? new Set();
    calls.add(controller);
    this.#running.set(key, calls);
    return {
      signal: controller.signal,
      done: () => {
        calls.delete(controller);
        if (calls.size === 0 && this.#running.get(key) === calls) this.#running.delete(key);
      },
    };
  }

  /** Cancelling what already ended, or never was, changes nothing. */
  cancel(session: string, requestId: string | number): void {
    for (const controller of this.#running.get(keyOf(session, requestId)) ?? []) controller.abort();
  }

  get size(): number {
    return this.#running.size;
  }
}

/** 1 and "1" are different ids. */
function keyOf(session: string, requestId: string | number): string {
  return `${session} ${typeof requestId} ${requestId}`;
}
