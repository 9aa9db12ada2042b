import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../kernel/logger.ts';
import { redactSecrets } from '../../kernel/redact.ts';
import type { Audit } from './audit.ts';

/** Somebody who was not let in, or asked for what nobody gets: a credential, a code, a registration, a form that does not fit. */
export interface Refusal {
  /** Where: `operator`, `agent`, `rest`, `oauth`, `page`, or `any` where that was not looked at. */
  readonly door: 'operator' | 'agent' | 'rest' | 'oauth' | 'page' | 'any';
  /** Why, as a word of ours in kebab-case. */
  readonly reason: string;
  readonly subject?: RefusalSubject | undefined;
}

/** What is known of them: ids of ours, never a credential and never a text they sent. What has not the form of an id is left out. */
export interface RefusalSubject {
  /** The person a credential was made for, or who is signed in. */
  readonly userId?: string | undefined;
  /** The kind of credential. */
  readonly via?: string | undefined;
  readonly [id: string]: string | number | boolean | undefined;
}

/** Takes a refusal down. Returns at once and throws nothing. */
export type NoteRefusal = (refusal: Refusal) => void;

export interface Refusals {
  readonly note: NoteRefusal;
  /** Resolves when all that was noted is written, or could not be. */
  close(): Promise<void>;
}

const ACCESS_REFUSED = 'access_refused';

/** Who nobody knows. */
const UNKNOWN = 'unknown';
const ID = /^[\w.:@/?=-]{1,200}$/;
const MINUTE_MS = 60_000;
/** Told apart within a minute, on one node. What is beyond is counted by door and reason alone. */
const MAX_KINDS = 100;

interface Kind {
  readonly userId: string;
  readonly via: string;
  readonly subject: Readonly<Record<string, string | number | boolean>>;
  /** Refusals that no event tells of yet. */
  unwritten: number;
}

/**
 * Writes refusals into the audit trail, however many there are: the first of its kind at once, those that equal it within the
 * minute as one event with their `count`. Whoever is refused waits for none of it, and what could not be written is counted
 * in the next event of its kind.
 */
export function createRefusals(deps: {
  readonly audit: Pick<Audit, 'note'>;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly logger: Logger;
}): Refusals {
  const { audit, clock, logger } = deps;
  /** Of this minute, by door, reason and subject. */
  const kinds = new Map<string, Kind>();
  const writing = new Set<Promise<void>>();
  const closing = new AbortController();

  function kindOf({ door, reason, subject = {} }: Refusal): Kind {
    const { userId, via, ...ids } = shapedLikeIds(subject);
    const exact = { userId: String(userId ?? UNKNOWN), via: String(via ?? UNKNOWN) };
    return (
      known({ ...exact, subject: { door, reason, ...ids } }, MAX_KINDS) ??
      // As many as there are doors and reasons, which are words of ours.
      known({ userId: UNKNOWN, via: UNKNOWN, subject: { door, reason, folded: true } }, Infinity)!
    );
  }

  function known(fields: Omit<Kind, 'unwritten'>, limit: number): Kind | undefined {
    const name = JSON.stringify(fields);
    const kind = kinds.get(name);
    if (kind || kinds.size >= limit) return kind;
    const made = { ...fields, unwritten: 0 };
    kinds.set(name, made);
    return made;
  }

  function write(kind: Kind): void {
    const count = kind.unwritten;
    kind.unwritten = 0;
    const { userId, via } = kind;
    const subject = { ...kind.subject, count };
    const written = audit.note({ userId, via, operation: ACCESS_REFUSED, outcome: 'refused', subject }).then(
      () => void writing.delete(written),
      error => {
        writing.delete(written);
        kind.unwritten += count;
        logger.error('A refusal could not be noted in the audit trail', { ...subject, error });
      },
    );
    writing.add(written);
  }

  async function endMinute(): Promise<void> {
    await clock.sleep(MINUTE_MS, closing.signal).catch(() => {});
    if (closing.signal.aborted) return;
    await writeCounted();
    for (const [name, kind] of kinds) if (kind.unwritten === 0) kinds.delete(name);
    if (kinds.size > 0) void endMinute();
  }

  async function writeCounted(): Promise<void> {
    for (const kind of kinds.values()) if (kind.unwritten > 0) write(kind);
    await Promise.all(writing);
  }

  return {
    note(refusal) {
      if (kinds.size === 0) void endMinute();
      const before = kinds.size;
      const kind = kindOf(refusal);
      kind.unwritten += 1;
      if (kinds.size > before) write(kind);
    },
    async close() {
      closing.abort();
      await writeCounted();
    },
  };
}

function shapedLikeIds(subject: RefusalSubject): Record<string, string | number | boolean> {
  const ids: Record<string, string | number | boolean> = {};
  for (const [name, value] of Object.entries(subject)) {
    if (typeof value === 'number' || typeof value === 'boolean') ids[name] = value;
    else if (typeof value === 'string' && ID.test(value)) ids[name] = redactSecrets(value);
  }
  return ids;
}
