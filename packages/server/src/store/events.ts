import { Fault } from '../kernel/errors.ts';
import type { EventListener, EventOrigin, HeardEvent, PlatformEvent } from '../kernel/events.ts';
import type { Logger } from '../kernel/logger.ts';
import type { Db, Store } from './store.ts';
import { eventsOfUnit } from './unit-scope.ts';

/** PostgreSQL takes less than 8000 bytes a message; the rest is for the envelope. */
const MAX_EVENT_BYTES = 7_000;

/**
 * News that leaves with the commit of the unit `db` belongs to, and never without it. The functions that change a row publish,
 * so that no caller can forget to.
 */
export function publish(db: Db, event: PlatformEvent): void {
  const bytes = Buffer.byteLength(JSON.stringify(event));
  if (bytes > MAX_EVENT_BYTES) {
    throw new Fault('event_too_large', `An event takes ${MAX_EVENT_BYTES} bytes; tell it in parts.`, {
      data: { kind: event.kind, bytes },
    });
  }
  eventsOfUnit(db).push(event);
}

/** Those who listen in this process. */
export interface Listeners {
  readonly subscribe: Store['subscribe'];
  tell(event: HeardEvent, origin: EventOrigin): void;
}

export function createListeners(logger?: Logger): Listeners {
  const listeners = new Set<EventListener>();
  return {
    subscribe(listener) {
      // One entry for each subscription, also of the same function.
      const entry: EventListener = (event, origin) => listener(event, origin);
      listeners.add(entry);
      return () => listeners.delete(entry);
    },
    tell(event, origin) {
      for (const listener of listeners) {
        try {
          listener(event, origin);
        } catch (error) {
          // The commit is done and the others still have to hear of it.
          logger?.error('A listener failed', { event: event.kind, error });
        }
      }
    },
  };
}

/**
 * Tells news that goes with no change of a table, all of it in one commit. Resolves with false when it could not be told, and
 * never rejects. Nothing waits here: who has much to tell keeps it, and bounds it, until the last telling is done.
 */
export function createAnnouncer(deps: {
  readonly store: Pick<Store, 'commit'>;
  readonly logger?: Logger | undefined;
}): (events: readonly PlatformEvent[]) => Promise<boolean> {
  const { store, logger } = deps;
  return async events => {
    try {
      await store.commit(async db => {
        for (const event of events) publish(db, event);
      });
      return true;
    } catch (error) {
      logger?.warn('News could not be told', { events: events.length, error });
      return false;
    }
  };
}
