import type { Clock } from '../../kernel/clock.ts';
import { redactedJson, redactSecrets } from '../../kernel/redact.ts';
import type { Db, Store } from '../../store/store.ts';
import {
  type AuditEntry,
  countUnchainedEntries,
  insertAuditEntries,
  listAuditEntries,
  lockAuditHead,
  PLATFORM_CHAIN,
  type SealedAuditEntry,
  setAuditHead,
} from '../../store/tables/audit-entries.ts';
import {
  type AuditEvent,
  insertAuditEvent,
  insertPlatformHead,
  listAuditEvents,
  lockPlatformHead,
  type SealedAuditEvent,
} from '../../store/tables/audit-events.ts';
import { CHAIN_START, type Chain, type Link } from './chain.ts';
import { contentOfEntry, contentOfEvent } from './content.ts';

/** Entries with their places, and where their chain ends with them: stored in one unit. */
export interface SealedEntries {
  readonly entries: readonly SealedAuditEntry[];
  /** For the conversation's row; `null` while there is no entry. */
  readonly head: string | null;
}

/** The audit trail: what was done, so that who changes the record later is found out. */
export interface Audit {
  /**
   * Gives entries of one conversation their places behind `head`, without their secrets. Computes only: who holds the
   * conversation stores both in the commit of the turn (`insertAuditEntries`, `finishTurn`).
   */
  seal(conversationId: string, head: string | undefined, entries: readonly AuditEntry[]): SealedEntries;
  /** The same for what happens to a conversation that no turn holds: stores entries and head. Inside a unit. */
  append(db: Db, conversationId: string, entries: readonly AuditEntry[]): Promise<void>;
  /** Stores what was done to the platform. Resolves when it is durable. */
  note(event: Omit<AuditEvent, 'createdAt'>): Promise<void>;
  /** Newest first. */
  entriesOf(conversationId: string, limit: number): Promise<SealedAuditEntry[]>;
  /** Newest first; those before the place `before`. */
  events(query: {
    readonly before?: number | undefined;
    readonly limit: number;
  }): Promise<SealedAuditEvent[]>;
}

/** A link that no hash fits to: what follows a head nobody with the key has made is found broken for ever. */
const BROKEN = 'broken';

export const AUDIT_BEGUN = 'audit_begun';
export const AUDIT_HEAD_LOST = 'audit_head_lost';

export function createAudit(deps: {
  readonly store: Store;
  readonly clock: Pick<Clock, 'now'>;
  readonly chain: Chain;
}): Audit {
  const { store, clock, chain } = deps;

  function seal(
    conversationId: string,
    head: string | undefined,
    entries: readonly AuditEntry[],
  ): SealedEntries {
    if (entries.length === 0) return { entries: [], head: head ?? null };
    let link = goOn(chain, conversationId, head);
    const sealed = entries.map(entry => {
      const clean = {
        ...entry,
        input: entry.input === undefined ? undefined : redactSecrets(entry.input),
        output: redactedJson(entry.output),
        actions: JSON.stringify(entry.actions),
      };
      link = chain.next(conversationId, link, contentOfEntry(chain, clean));
      return { ...clean, ...link };
    });
    return { entries: sealed, head: chain.seal(conversationId, link) };
  }

  return {
    seal,
    async append(db, conversationId, entries) {
      const sealed = seal(conversationId, await lockAuditHead(db, conversationId), entries);
      await insertAuditEntries(db, sealed.entries);
      await setAuditHead(db, conversationId, sealed.head);
    },
    note: event => store.commit(db => appendEvent(db, chain, { ...event, createdAt: clock.now() })),
    entriesOf: (conversationId, limit) => listAuditEntries(store.db, conversationId, limit),
    events: query => listAuditEvents(store.db, query),
  };
}

/**
 * Begins the platform's chain with how many entries there are without a place in one. Where the head is gone from under events,
 * that is noted instead: verifying finds it for ever.
 */
export async function beginAudit(db: Db, chain: Chain, at: number): Promise<void> {
  if (!(await insertPlatformHead(db))) return;
  const [last] = await listAuditEvents(db, { limit: 1 });
  const event = { userId: PLATFORM_CHAIN, via: PLATFORM_CHAIN, outcome: 'done', createdAt: at } as const;
  if (last) {
    await appendEvent(db, chain, { ...event, operation: AUDIT_HEAD_LOST, subject: {} }, last);
  } else {
    const unchained = await countUnchainedEntries(db);
    await appendEvent(db, chain, { ...event, operation: AUDIT_BEGUN, subject: { unchained } });
  }
}

async function appendEvent(db: Db, chain: Chain, event: AuditEvent, after?: Link): Promise<void> {
  const head = await lockPlatformHead(db);
  const before = after ?? goOn(chain, PLATFORM_CHAIN, head === '' ? undefined : head);
  const clean = { ...event, subject: JSON.stringify(event.subject) };
  const link = chain.next(PLATFORM_CHAIN, before, contentOfEvent(chain, clean));
  await insertAuditEvent(db, { ...clean, ...link }, chain.seal(PLATFORM_CHAIN, link));
}

/** Where the next entry is put. Whatever became of the head, what happens is written down. */
function goOn(chain: Chain, name: string, head: string | undefined): Link {
  if (head === undefined) return CHAIN_START;
  return chain.open(name, head) ?? { seq: seqIn(head), hash: BROKEN };
}

function seqIn(head: string): number {
  return Number(/^1\.(\d{1,15})\./.exec(head)?.[1] ?? 0);
}
