import type { Db } from '../../store/store.ts';
import {
  type AuditEntry,
  type AuditEntryRead,
  listUnchainedEntries,
} from '../../store/tables/audit-entries.ts';
import { type AuditRecord, listLatestRecords } from '../../store/tables/audit-records.ts';

/** Most records have an entry for each of some steps. */
const RECORDS_AT_ONCE = 25;

/** The newest entries of a conversation, newest first, also those from before there were chains. */
export async function readEntries(db: Db, conversationId: string, limit: number): Promise<AuditEntryRead[]> {
  const entries: AuditEntryRead[] = [];
  let before = Number.MAX_SAFE_INTEGER;
  while (entries.length < limit) {
    const page = { before, limit: Math.min(limit - entries.length, RECORDS_AT_ONCE) };
    const records = await listLatestRecords(db, conversationId, page);
    for (const record of records) entries.push(...entriesIn(record).reverse());
    if (records.length < page.limit) break;
    before = records.at(-1)!.seq;
  }
  if (entries.length < limit) {
    entries.push(...(await listUnchainedEntries(db, conversationId, limit - entries.length)));
  }
  return entries.slice(0, limit);
}

function entriesIn({ entries, ...record }: AuditRecord): AuditEntryRead[] {
  const { conversationId, seq } = record;
  return (JSON.parse(entries) as AuditEntry[]).map((entry, index) => ({
    ...entry,
    ...record,
    id: entryId(conversationId, seq, index),
  }));
}

/** Of the entry that stands `index` places into the record at the place `seq`. */
export function entryId(conversationId: string, seq: number, index: number): string {
  return `audit_${conversationId.replace(/^conv_/, '')}_${seq}_${index}`;
}
