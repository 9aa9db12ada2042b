import { createHash } from 'node:crypto';

/** One running call: its signal, and how to say that it ended. */
export interface Cancellation {
  readonly signal: AbortSignal;
  done(): void;
}

/**
 * Cancels of one credential that wait to be told: more than a batch holds. It may open as many sessions as it likes, so a
 * session would be no bound.
 */
const MAX_WAITING = 64;

/**
 * Calls of the older eras that a `notifications/cancelled` may end, wherever they run. Clients use ids as they like, one even
 * id 1 for everything (field-reports 2.18), so an id names a set, and only within one session of one credential.
 */
export class Cancellations {
  readonly #running = new Map<string, Set<AbortController>>();
  readonly #tellOthers: (calls: readonly string[]) => Promise<unknown>;
  #waiting = new Map<string, Set<string>>();
  #telling = false;

  /** `tellOthers` passes cancelled calls on to the other nodes, which `end` them. It must not reject. */
  constructor(tellOthers: (calls: readonly string[]) => Promise<unknown> = async () => {}) {
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

  /**
   * Ends the call here, or has the other nodes end it. Cancelling what already ended, or never was, changes nothing. A
   * cancel costs its sender next to nothing, so they are told one telling at a time, each once, and of each credential so
   * many that those of all others go with the next telling.
   */
  cancel(credential: string, session: string, requestId: string | number): void {
    const call = nameOf(session, requestId);
    if (this.#running.has(call)) {
      this.end(call);
      return;
    }
    const waiting = this.#waiting.get(credential) ?? new Set();
    if (waiting.size >= MAX_WAITING) return;
    waiting.add(call);
    this.#waiting.set(credential, waiting);
    if (!this.#telling) void this.#tellAll();
  }

  /** Ends calls by the name another node gave. */
  end(call: string): void {
    for (const controller of this.#running.get(call) ?? []) controller.abort();
  }

  async #tellAll(): Promise<void> {
    this.#telling = true;
    while (this.#waiting.size > 0) {
      const calls = [...this.#waiting.values()].flatMap(waiting => [...waiting]);
      this.#waiting = new Map();
      await this.#tellOthers(calls);
    }
    this.#telling = false;
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
