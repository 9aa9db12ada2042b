import type { Clock } from '../../kernel/clock.ts';
import { redactedJson } from '../../kernel/redact.ts';
import type { Db, Store } from '../../store/store.ts';
import {
  type AuditEntry,
  type AuditEntryRead,
  type AuditedConversation,
  countUnchainedEntries,
} from '../../store/tables/audit-entries.ts';
import {
  type AuditEvent,
  insertAuditEvent,
  insertPlatformHead,
  listAuditEvents,
  lockPlatformHead,
  type SealedAuditEvent,
} from '../../store/tables/audit-events.ts';
import {
  type AuditRecord,
  insertAuditRecords,
  lockAuditHead,
  PLATFORM_CHAIN,
  setAuditHead,
} from '../../store/tables/audit-records.ts';
import { CHAIN_START, type Chain, type Link } from './chain.ts';
import { contentOfEvent, contentOfRecord } from './content.ts';
import { readEntries } from './read-entries.ts';

/** Entries in their places, and where their chain ends with them: stored in one unit. */
export interface SealedRecords {
  readonly records: readonly AuditRecord[];
  /** For the conversation's row; `null` while there is no entry. */
  readonly head: string | null;
}

/** The audit trail: what was done, so that who changes the record later is found out. */
export interface Audit {
  /**
   * Gives the entries of one commit their place behind `head`, without their secrets: one record, or several where they are
   * long. Computes only: who holds the conversation stores both in the commit of the turn (`insertAuditRecords`, `finishTurn`).
   */
  seal(
    conversation: AuditedConversation,
    head: string | undefined,
    entries: readonly AuditEntry[],
  ): SealedRecords;
  /** The same for what happens to a conversation that no turn holds: stores entries and head. Inside a unit. */
  append(db: Db, conversation: AuditedConversation, entries: readonly AuditEntry[]): Promise<void>;
  /** Stores what was done to the platform. Resolves when it is durable. */
  note(event: Omit<AuditEvent, 'createdAt'>): Promise<void>;
  /** Newest first. */
  entriesOf(conversationId: string, limit: number): Promise<AuditEntryRead[]>;
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
    conversation: AuditedConversation,
    head: string | undefined,
    entries: readonly AuditEntry[],
  ): SealedRecords {
    if (entries.length === 0) return { records: [], head: head ?? null };
    const { conversationId, agentId, agentVersion, userId, environment } = conversation;
    let link = goOn(chain, conversationId, head);
    const records = textsOf(entries).map(text => {
      const record = { conversationId, agentId, agentVersion, userId, environment, entries: text };
      link = chain.next(conversationId, link, contentOfRecord(chain, record));
      return { ...record, ...link };
    });
    return { records, head: chain.seal(conversationId, link) };
  }

  return {
    seal,
    async append(db, conversation, entries) {
      const { conversationId } = conversation;
      const sealed = seal(conversation, await lockAuditHead(db, conversationId), entries);
      await insertAuditRecords(db, sealed.records);
      await setAuditHead(db, conversationId, sealed.head);
    },
    note: event => store.commit(db => appendEvent(db, chain, { ...event, createdAt: clock.now() })),
    entriesOf: (conversationId, limit) => readEntries(store.db, conversationId, limit),
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

/** A record that is longer has one entry alone. */
const MAX_RECORD_CHARS = 64 * 1024;

/** The entries as JSON lists without secrets, one for each record. */
function textsOf(entries: readonly AuditEntry[]): string[] {
  const text = redactedJson(entries);
  if (text.length <= MAX_RECORD_CHARS || entries.length === 1) return [text];
  const half = Math.ceil(entries.length / 2);
  return [...textsOf(entries.slice(0, half)), ...textsOf(entries.slice(half))];
}

/** Where the next entry is put. Whatever became of the head, what happens is written down. */
function goOn(chain: Chain, name: string, head: string | undefined): Link {
  if (head === undefined) return CHAIN_START;
  return chain.open(name, head) ?? { seq: seqIn(head), hash: BROKEN };
}

function seqIn(head: string): number {
  return Number(/^1\.(\d{1,15})\./.exec(head)?.[1] ?? 0);
}
