import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../kernel/clock.ts';
import type { Store } from '../../store/store.ts';
import { countUnchainedEntries } from '../../store/tables/audit-entries.ts';
import { findPlatformHead, listChainedEvents } from '../../store/tables/audit-events.ts';
import {
  findAuditHead,
  listChainedRecords,
  listRecordChains,
  PLATFORM_CHAIN,
} from '../../store/tables/audit-records.ts';
import { AUDIT_BEGUN, AUDIT_HEAD_LOST } from './audit.ts';
import { CHAIN_START, type Chain, type Link, type LinkContent } from './chain.ts';
import { contentOfEvent, contentOfRecord } from './content.ts';
import { entryId } from './read-entries.ts';

/**
 * What is wrong with a chain at a place: what stands there was changed, is gone, stands elsewhere, or is too much; the chain was cut
 * off behind it; or where it ends can no longer be told.
 */
export type BreakReason = 'changed' | 'missing' | 'reordered' | 'added' | 'cut_off' | 'head_lost';

/** The first thing that is wrong with a chain. */
export interface ChainBreak {
  /** A conversation, `platform`, or `unchained` for the entries from before there were chains. */
  readonly chain: string;
  /** The place in the chain, from 1. */
  readonly seq: number;
  /** The first entry that stands there, if one does. */
  readonly entryId?: string;
  readonly reason: BreakReason;
  readonly message: string;
}

/** What one look at a part of the trail has found. */
export interface Verification {
  readonly chains: number;
  readonly entries: number;
  readonly breaks: readonly ChainBreak[];
  /** Where to go on; `undefined` when everything was looked at. */
  readonly next: string | undefined;
}

/** Looks whether the audit trail is what was written. Changes nothing, holds a page of one chain in memory at a time. */
export interface AuditVerifier {
  /** Some seconds of work at the most; goes on behind the chain `after`. The platform's chain comes first. */
  all(after: string | undefined): Promise<Verification>;
  conversation(conversationId: string): Promise<Verification>;
}

const PAGE = 50;
const CHAINS_AT_ONCE = 200;
const WORK_MS = 2_000;
const MAX_BREAKS = 100;

interface ChainedRow {
  readonly seq: number;
  readonly hash: string;
  /** Of the first entry that stands there. */
  readonly id: string;
  readonly content: LinkContent;
}

/** A chain as the store has it. */
interface StoredChain {
  readonly name: string;
  page(after: number, limit: number): Promise<ChainedRow[]>;
  /** How many entries a row has that is as it was written. */
  count(row: ChainedRow): number;
  head(): Promise<string | undefined>;
  /** A row that says of itself that something is wrong. */
  readonly confesses?: (row: ChainedRow) => boolean;
}

/** Before every place a row may have, whoever has put it there. */
const START = Number.MIN_SAFE_INTEGER;

interface Walked {
  readonly entries: number;
  readonly break: ChainBreak | undefined;
}

export function createAuditVerifier(deps: {
  readonly store: Store;
  readonly clock: Pick<Clock, 'now'>;
  readonly chain: Chain;
}): AuditVerifier {
  const { store, clock, chain } = deps;

  function conversationChain(conversationId: string): StoredChain {
    return {
      name: conversationId,
      page: async (after, limit) => {
        const records = await listChainedRecords(store.db, conversationId, after, limit);
        return records.map(record => ({
          seq: record.seq,
          hash: record.hash,
          id: entryId(conversationId, record.seq, 0),
          content: contentOfRecord(chain, record),
        }));
      },
      count: ({ content }) => (JSON.parse(content.text) as unknown[]).length,
      head: () => findAuditHead(store.db, conversationId),
    };
  }

  const platformChain: StoredChain = {
    name: PLATFORM_CHAIN,
    page: async (after, limit) => {
      const events = await listChainedEvents(store.db, after, limit);
      return events.map(event => ({
        seq: event.seq,
        hash: event.hash,
        id: `${event.operation} ${event.seq}`,
        content: contentOfEvent(chain, event),
      }));
    },
    count: () => 1,
    head: () => findPlatformHead(store.db),
    confesses: row => row.id.startsWith(`${AUDIT_HEAD_LOST} `),
  };

  async function walk(stored: StoredChain, headBefore?: string): Promise<Walked> {
    const { name } = stored;
    let link: Link = CHAIN_START;
    let place: ChainedRow | undefined;
    let entries = 0;
    const broken = (reason: BreakReason, seq: number, message: string, entryId?: string): Walked => ({
      entries,
      break: { chain: name, seq, ...(entryId !== undefined && { entryId }), reason, message },
    });

    /** Goes on to the end as it is now. */
    async function toEnd(): Promise<Walked | undefined> {
      for (;;) {
        // The embedded store answers without letting anybody else come first.
        await setImmediate();
        const rows = await stored.page(place?.seq ?? START, PAGE);
        for (const [index, row] of rows.entries()) {
          const found = lookAt(chain, name, link, row, rows.slice(index + 1));
          if (found) return broken(found.reason, found.seq, found.message, found.entryId);
          if (stored.confesses?.(row))
            return broken(
              'head_lost',
              row.seq,
              'When the platform started it was not known where the chain ended; entries may be missing before this one.',
              row.id,
            );
          link = { seq: row.seq, hash: row.hash };
          place = row;
          entries += stored.count(row);
        }
        if (rows.length < PAGE) return undefined;
      }
    }

    const found = await toEnd();
    if (found) return found;
    // Most chains stand still meanwhile: then the head that was read with the list is enough.
    if (headBefore !== undefined && isAt(chain.open(name, headBefore), link))
      return { entries, break: undefined };
    for (;;) {
      const head = await stored.head();
      if (head === undefined || head === '')
        return broken('head_lost', link.seq, 'It is no longer known where the chain ends.');
      const end = chain.open(name, head);
      if (!end)
        return broken('head_lost', link.seq, 'Where the chain ends was not written by this platform.');
      if (isAt(end, link)) return { entries, break: undefined };
      if (end.seq < link.seq) return broken('added', end.seq + 1, 'The chain ends before this entry.');
      if (end.seq === link.seq)
        return broken('changed', link.seq, 'What stands here is not what the chain ends with.', place?.id);
      // It has grown since, or was cut off.
      const reached: Link = link;
      const foundLater = await toEnd();
      if (foundLater) return foundLater;
      if (link === reached)
        return broken(
          'cut_off',
          link.seq + 1,
          `What was written from here on is gone: ${end.seq - link.seq} places of the chain.`,
        );
    }
  }

  async function unchained(): Promise<ChainBreak | undefined> {
    const [first] = await listChainedEvents(store.db, 0, 1);
    if (first?.operation !== AUDIT_BEGUN) return undefined;
    const { unchained: then } = JSON.parse(first.subject) as { unchained: number };
    const now = await countUnchainedEntries(store.db);
    if (now === then) return undefined;
    return {
      chain: 'unchained',
      seq: 0,
      reason: now < then ? 'missing' : 'added',
      message: `There were ${then} entries without a chain when the chains began; now there are ${now}.`,
    };
  }

  return {
    async all(after) {
      const startedAt = clock.now();
      const breaks: ChainBreak[] = [];
      let chains = 0;
      let entries = 0;
      const count = (walked: Walked) => {
        chains += 1;
        entries += walked.entries;
        if (walked.break) breaks.push(walked.break);
      };
      if (after === undefined) {
        count(await walk(platformChain));
        const found = await unchained();
        if (found) breaks.push(found);
      }
      let place = after ?? '';
      for (;;) {
        const listed = await listRecordChains(store.db, { after: place, limit: CHAINS_AT_ONCE });
        for (const { conversationId, head } of listed) {
          count(await walk(conversationChain(conversationId), head));
          place = conversationId;
          if (breaks.length >= MAX_BREAKS || clock.now() - startedAt > WORK_MS)
            return { chains, entries, breaks, next: place };
        }
        if (listed.length < CHAINS_AT_ONCE) return { chains, entries, breaks, next: undefined };
      }
    },
    async conversation(conversationId) {
      const head = await findAuditHead(store.db, conversationId);
      const stored = conversationChain(conversationId);
      const isThere = head !== undefined || (await stored.page(START, 1)).length > 0;
      if (!isThere) return { chains: 0, entries: 0, breaks: [], next: undefined };
      const { entries, break: found } = await walk(stored, head);
      return { chains: 1, entries, breaks: found ? [found] : [], next: undefined };
    },
  };
}

function isAt(end: Link | undefined, link: Link): boolean {
  return end?.seq === link.seq && end.hash === link.hash;
}

/** Is the row the one that was written behind `link`? */
function lookAt(
  chain: Chain,
  name: string,
  link: Link,
  row: ChainedRow,
  later: readonly ChainedRow[],
): Pick<ChainBreak, 'seq' | 'reason' | 'message' | 'entryId'> | undefined {
  const seq = link.seq + 1;
  if (row.seq < seq)
    return { seq: row.seq, entryId: row.id, reason: 'added', message: 'The chain begins behind this entry.' };
  if (row.seq > seq) return { seq, reason: 'missing', message: 'What was written here is gone.' };
  const fits = ({ content, hash }: ChainedRow) => chain.next(name, link, content).hash === hash;
  if (fits(row)) return undefined;
  return later.some(fits)
    ? {
        seq,
        entryId: row.id,
        reason: 'reordered',
        message: 'What was written here stands further on.',
      }
    : { seq, entryId: row.id, reason: 'changed', message: 'What stands here is not what was written.' };
}
