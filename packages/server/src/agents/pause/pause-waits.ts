import type { Clock } from '../../kernel/clock.ts';
import type { PlatformEvent } from '../../kernel/events.ts';
import type { Store } from '../../store/store.ts';
import { findPause } from '../../store/tables/pauses.ts';

/** Why nobody waits for a pause any more: it is decided, the client that was asked left it open, or the wait was over. */
export type WaitEnd =
  | { readonly kind: 'decided'; readonly by: string | undefined }
  | { readonly kind: 'left' }
  | { readonly kind: 'over' };

/** A place in the waiting room. `end` is called exactly once. */
export interface PauseWait {
  /** Resolves with `over` also when `signal` aborts or the node is about to stop. `onWaiting` is told now and then meanwhile. */
  end(options: {
    readonly signal: AbortSignal;
    /** Epoch ms. */
    readonly until: number;
    readonly onWaiting: () => void;
  }): Promise<WaitEnd>;
}

/** Calls that wait for a person while their client is asked. */
export interface PauseWaits {
  /** From now on nothing is missed that happens to the pause. `undefined` when this caller has too many calls waiting. */
  open(waiter: string, pauseId: string): PauseWait | undefined;
  /** The client that was asked will not answer: its call waits no longer, on whichever node it does. */
  leave(pauseId: string): Promise<void>;
}

/** News may be lost, though `resync` tells of nearly all that is; a stream that is silent for longer may be taken for dead. */
const LOOK_AGAIN_MS = 15_000;
/** Each holds a connection. */
const MAX_WAITS = 1_000;

/** Nobody sees it; a reason of our own spares the abort an error with a stack. */
const RUNG = Symbol('rung');

interface Waiter {
  bell: AbortController;
  isLeft: boolean;
}

export function createPauseWaits(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly announce: (events: readonly PlatformEvent[]) => Promise<boolean>;
  /** The node is about to stop: every wait ends. */
  readonly closing: AbortSignal;
}): PauseWaits {
  const { store, clock, announce, closing } = deps;
  const waiters = new Map<string, Set<Waiter>>();
  /** How many calls of a caller wait here. */
  const counts = new Map<string, number>();

  store.subscribe(event => {
    if (event.kind === 'pause-decided') ring(event.pauseId, false);
    if (event.kind === 'question-left') ring(event.pauseId, true);
    if (event.kind === 'resync') ringAll();
  });
  closing.addEventListener('abort', ringAll);

  function ringAll(): void {
    for (const pauseId of waiters.keys()) ring(pauseId, false);
  }

  function ring(pauseId: string, isLeft: boolean): void {
    for (const waiter of waiters.get(pauseId) ?? []) {
      waiter.isLeft ||= isLeft;
      waiter.bell.abort(RUNG);
    }
  }

  function enter(caller: string, pauseId: string): { readonly waiter: Waiter; leave(): void } {
    const waiter = { bell: new AbortController(), isLeft: false };
    const others = waiters.get(pauseId) ?? new Set();
    others.add(waiter);
    waiters.set(pauseId, others);
    counts.set(caller, (counts.get(caller) ?? 0) + 1);
    return {
      waiter,
      leave() {
        others.delete(waiter);
        if (others.size === 0 && waiters.get(pauseId) === others) waiters.delete(pauseId);
        const left = counts.get(caller)! - 1;
        if (left === 0) counts.delete(caller);
        else counts.set(caller, left);
      },
    };
  }

  return {
    open(caller, pauseId) {
      if ((counts.get(caller) ?? 0) >= MAX_WAITS) return undefined;
      const { waiter, leave } = enter(caller, pauseId);
      return {
        async end({ signal, until, onWaiting }) {
          const onGone = () => waiter.bell.abort(RUNG);
          signal.addEventListener('abort', onGone);
          try {
            for (;;) {
              // Before looking: what rings meanwhile must not be slept over.
              waiter.bell = new AbortController();
              const { isLeft } = waiter;
              const pause = await findPause(store.db, pauseId);
              if (pause?.state !== 'open') return { kind: 'decided', by: pause?.decision?.decidedBy };
              if (isLeft) return { kind: 'left' };
              if (signal.aborted || closing.aborted || clock.now() >= until) return { kind: 'over' };
              const sleepMs = Math.min(LOOK_AGAIN_MS, until - clock.now());
              await clock.sleep(sleepMs, waiter.bell.signal).then(onWaiting, () => {});
            }
          } finally {
            signal.removeEventListener('abort', onGone);
            leave();
          }
        },
      };
    },

    leave: async pauseId => void (await announce([{ kind: 'question-left', pauseId }])),
  };
}
