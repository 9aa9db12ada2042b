import type { LetIn, StillAllowed } from '../../auth/still-allowed.ts';
import type { Clock } from '../../kernel/clock.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { HeardEvent } from '../../kernel/events.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { NoteRefusal, Refusal } from '../../records/audit/refusals.ts';

/** A call of somebody who was let in. */
export interface OpenCall {
  /**
   * Runs it as long as they would still be let in. Afterwards rejects with `unauthenticated` at once, whatever the call still does; it is
   * told by its signal, which also aborts when `signal` does.
   */
  run<T>(signal: AbortSignal, call: (signal: AbortSignal) => Promise<T>): Promise<T>;
}

/**
 * The calls and streams that are open on this node, and what opened them. What news says of a credential, a person or an agent ends
 * those of them that would not be let in any more, within the time that news takes (attack 14).
 */
export interface OpenCredentials {
  /** To be asked before a credential is looked at: what is heard from then on counts for it. */
  moment(): number;
  of(who: LetIn & { readonly door: Refusal['door'] }, since: number): OpenCall;
  hear(event: HeardEvent): void;
  readonly size: number;
  close(): void;
}

interface Open {
  readonly who: LetIn & { readonly door: Refusal['door'] };
  end(): void;
}

const AGAIN_MS = 1_000;
/** Where news is late for so long, everybody is looked at again as often. */
const LATE_MS = 5_000;

export function createOpenCredentials(deps: {
  readonly stillAllowed: StillAllowed;
  readonly newsAgeMs: () => number;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly noteRefusal: NoteRefusal;
  readonly logger: Logger;
}): OpenCredentials {
  const { clock, logger } = deps;
  const open = new Set<Open>();
  const doubted = new Set<Open>();
  const closing = new AbortController();
  let heard = 0;
  let looking = false;

  function doubt(one: Open): void {
    doubted.add(one);
    if (!looking) void lookAtAll();
  }

  async function lookAtAll(): Promise<void> {
    looking = true;
    while (doubted.size > 0 && !closing.signal.aborted) {
      const alike = [...Map.groupBy(doubted, one => nameOf(one.who)).values()];
      doubted.clear();
      for (const each of alike) await look(each);
    }
    looking = false;
  }

  /** Calls of one credential that was let in alike. */
  async function look(alike: readonly Open[]): Promise<void> {
    const { who } = alike[0]!;
    try {
      if (await deps.stillAllowed(who)) return;
    } catch (error) {
      logger.warn('Whether open calls are still allowed could not be looked up', { error });
      for (const one of alike) if (open.has(one)) doubted.add(one);
      await clock.sleep(AGAIN_MS, closing.signal).catch(() => {});
      return;
    }
    const { id: userId, via, credential } = who.principal;
    for (const one of alike) {
      if (!open.has(one)) continue;
      one.end();
      const { agentId } = who;
      deps.noteRefusal({
        door: who.door,
        reason: 'access-ended',
        subject: { userId, via, credential, agentId },
      });
    }
  }

  async function lookAgainWhileNewsIsLate(): Promise<void> {
    while (!closing.signal.aborted) {
      await clock.sleep(LATE_MS, closing.signal).catch(() => {});
      if (deps.newsAgeMs() >= LATE_MS) for (const one of open) doubt(one);
    }
  }
  void lookAgainWhileNewsIsLate();

  return {
    moment: () => heard,

    of: (who, since) => ({
      async run(signal, call) {
        const controller = new AbortController();
        const { promise: ended, reject } = Promise.withResolvers<never>();
        const abort = () => controller.abort(signal.reason);
        const one: Open = {
          who,
          end() {
            open.delete(one);
            reject(new PlatformError('unauthenticated', 'The credential of this call no longer opens this.'));
            controller.abort();
          },
        };
        if (signal.aborted) abort();
        else signal.addEventListener('abort', abort, { once: true });
        open.add(one);
        // News that came while the credential was looked at may have been about it.
        if (heard !== since) doubt(one);
        try {
          return await Promise.race([call(controller.signal), ended]);
        } finally {
          open.delete(one);
          signal.removeEventListener('abort', abort);
        }
      },
    }),

    hear(event) {
      const isAbout = about(event);
      if (!isAbout) return;
      heard += 1;
      for (const one of open) if (isAbout(one.who)) doubt(one);
    },

    get size() {
      return open.size;
    },
    close: () => closing.abort(),
  };
}

/** Whose access the event may have changed; `undefined` for one that changes nobody's. */
function about(event: HeardEvent): ((who: LetIn) => boolean) | undefined {
  switch (event.kind) {
    case 'key-changed':
      return ({ principal }) => principal.credential === event.keyId;
    case 'grant-changed':
      return ({ principal }) => principal.credential === `grant:${event.grantId}`;
    case 'user-changed':
      // An agent key does not say whose it is.
      return ({ principal }) => principal.id === event.userId || principal.via === 'agent-key';
    case 'agent-changed':
      return ({ agentId }) => agentId === event.agentId;
    case 'resync':
      return () => true;
    default:
      return undefined;
  }
}

function nameOf({ door, principal, agentId }: Open['who']): string {
  return JSON.stringify([door, principal.credential, principal.id, agentId, [...principal.roles].sort()]);
}
