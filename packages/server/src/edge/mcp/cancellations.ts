import { createHash } from 'node:crypto';

/** One running call: its signal, and how to say that it ended. */
export interface Cancellation {
  readonly signal: AbortSignal;
  done(): void;
}

/**
 * Calls of the older eras that a `notifications/cancelled` may end, wherever they run. Clients use ids as they like, one even
 * id 1 for everything (field-reports 2.18), so an id names a set, and only within one session of one credential.
 */
export class Cancellations {
  readonly #running = new Map<string, Set<AbortController>>();
  readonly #tellOthers: (call: string) => void;

  /** `tellOthers` passes a cancelled call on to the other nodes, which `end` it. */
  constructor(tellOthers: (call: string) => void = () => {}) {
    this.#tellOthers = tellOthers;
  }

  /** Registers a call; `done` must be called when it ends. Outside a session there is nothing that could cancel it. */
  register(session: string | undefined, requestId: string | number): Cancellation {
    if (session === undefined) return { signal: new AbortController().signal, done: () => {} };
    const call = nameOf(session, requestId);
    const controller = new AbortController();
    const calls = this.#running.get(call) ?? new Set();
    calls.add(controller);
    this.#running.set(call, calls);
    return {
      signal: controller.signal,
      done: () => {
        calls.delete(controller);
        if (calls.size === 0 && this.#running.get(call) === calls) this.#running.delete(call);
      },
    };
  }

  /** Cancelling what already ended, or never was, changes nothing. */
  cancel(session: string, requestId: string | number): void {
    const call = nameOf(session, requestId);
    this.end(call);
    this.#tellOthers(call);
  }

  /** Ends calls by the name another node gave. */
  end(call: string): void {
    for (const controller of this.#running.get(call) ?? []) controller.abort();
  }

  get size(): number {
    return this.#running.size;
  }
}

/** 1 and "1" are different ids. A digest, since a session id opens something and news is heard by all nodes. */
function nameOf(session: string, requestId: string | number): string {
  return createHash('sha256')
    .update(`${session} ${typeof requestId} ${requestId}`)
    .digest('base64url');
}
