import type { DocumentType } from '@patchbay/contract/ids';
import { type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { PlatformError } from '../../kernel/errors.ts';
import { normalizeText } from '../../kernel/normalize.ts';
import { publish } from '../events.ts';
import type { Schema } from '../schema.ts';
import type { Db } from '../store.ts';
import { noteAgentChange } from './agent-revisions.ts';

/** One version of a document; what it holds never changes. */
export interface Document {
  readonly type: DocumentType;
  readonly id: string;
  readonly version: number;
  readonly body: unknown;
  readonly createdBy: string;
  /** Epoch ms, as all times here. */
  readonly createdAt: number;
}

/** What is known of a document besides its body. */
export interface Descriptor {
  readonly type: DocumentType;
  readonly id: string;
  readonly currentVersion: number;
  readonly name: string;
  readonly description: string;
  readonly createdBy: string;
  readonly createdAt: number;
  readonly modifiedBy: string;
  readonly modifiedAt: number;
}

export interface DocumentToCreate {
  readonly type: DocumentType;
  readonly id: string;
  /** Any JSON value. */
  readonly body: unknown;
  readonly name: string;
  readonly description: string;
  readonly by: string;
  readonly at: number;
}

export interface DocumentToUpdate {
  readonly type: DocumentType;
  readonly id: string;
  readonly body: unknown;
  /** The version the change was made from; 0 means whatever is current (platform.md 1.2). */
  readonly expectedVersion: number;
  /** Left out, it stays. */
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  /** May conversations that run with the version before go on with this one? */
  readonly compatible?: boolean | undefined;
  readonly by: string;
  readonly at: number;
}

/** Other words for a document whose body stays. */
export type DocumentToRename = Omit<DocumentToUpdate, 'body' | 'compatible'>;

export interface DocumentToDelete {
  readonly type: DocumentType;
  readonly id: string;
  readonly expectedVersion: number;
  /** Removes every version; otherwise they stay readable by number. */
  readonly permanent: boolean;
  readonly by: string;
  readonly at: number;
}

/** Makes version 1. Throws `conflict` when the id was ever used and not permanently deleted. */
export async function createDocument(db: Db, document: DocumentToCreate): Promise<Descriptor> {
  const { type, id, name, description, by, at } = document;
  const row = await db
    .insertInto('documents')
    .values({
      type,
      id,
      current_version: 1,
      deleted: 0,
      name,
      description,
      name_folded: fold(name),
      description_folded: fold(description),
      created_by: by,
      created_at: at,
      modified_by: by,
      modified_at: at,
    })
    .onConflict(conflict => conflict.columns(['type', 'id']).doNothing())
    .returning(DESCRIPTOR_COLUMNS)
    .executeTakeFirst();
  if (!row) {
    throw new PlatformError(
      'conflict',
      `A ${type} document with the id ${id} exists or was deleted; choose another id, or delete it permanently first.`,
    );
  }
  await insertVersion(db, { type, id, version: 1, body: document.body, createdBy: by, createdAt: at });
  // Under this id an agent may be remembered as one that was deleted.
  if (type === 'agent') await noteAgentChange(db, id);
  return toDescriptor(row);
}

/**
 * Makes the next version and returns the descriptor that names it. Of two updates made from the same version exactly one
 * succeeds; the other throws `conflict`. Throws `not_found`, for agents
 * `agent_not_found`, for a document that is not there or was deleted.
 */
export async function updateDocument(db: Db, change: DocumentToUpdate): Promise<Descriptor> {
  const { type, id, by, at } = change;
  const descriptor = await changeDescriptor(db, change, 'next-version');
  const version = descriptor.currentVersion;
  const compatibleFrom = change.compatible ? await compatibleFromOf(db, type, id, version - 1) : null;
  await insertVersion(
    db,
    { type, id, version, body: change.body, createdBy: by, createdAt: at },
    compatibleFrom,
  );
  await noteChange(db, type, id);
  return descriptor;
}

/**
 * Puts a version there under the number it has elsewhere. It is the current one unless there is a later one; the words people know the
 * document by are those of the current one. Throws `conflict` for a document that was deleted. The number must be free.
 */
export async function addVersion(
  db: Db,
  document: DocumentToCreate & { readonly version: number },
): Promise<void> {
  const { type, id, version, body, name, description, by, at } = document;
  const words = { name, description, name_folded: fold(name), description_folded: fold(description) };
  const changed = { current_version: version, modified_by: by, modified_at: at, ...words };
  const row = await db
    .insertInto('documents')
    .values({ type, id, deleted: 0, created_by: by, created_at: at, ...changed })
    .onConflict(conflict =>
      conflict.columns(['type', 'id']).doUpdateSet(eb => ({
        // Writes the row in any case, so that nobody else changes it before this unit ends.
        deleted: eb.ref('documents.deleted'),
      })),
    )
    .returning(['deleted', 'current_version'])
    .executeTakeFirstOrThrow();
  if (row.deleted === 1) {
    throw new PlatformError(
      'conflict',
      `The ${type} document ${id} was deleted here; delete it permanently first.`,
    );
  }
  if (row.current_version < version) {
    await db.updateTable('documents').set(changed).where('type', '=', type).where('id', '=', id).execute();
  }
  if (row.current_version <= version) await noteChange(db, type, id);
  await insertVersion(db, { type, id, version, body, createdBy: by, createdAt: at });
}

/** Changes the words a document is known by, and makes no version. Throws as `updateDocument` does. */
export async function renameDocument(db: Db, change: DocumentToRename): Promise<Descriptor> {
  const descriptor = await changeDescriptor(db, change, 'same-version');
  await noteChange(db, change.type, change.id);
  return descriptor;
}

/** Only of the version that is expected, and of none that was deleted. Throws as `updateDocument` does. */
async function changeDescriptor(
  db: Db,
  change: DocumentToRename,
  to: 'next-version' | 'same-version',
): Promise<Descriptor> {
  const { type, id, expectedVersion, name, description, by, at } = change;
  refuseNegative(expectedVersion);
  const row = await db
    .updateTable('documents')
    .set({
      modified_by: by,
      modified_at: at,
      ...(to === 'next-version' && { current_version: sql<number>`current_version + 1` }),
      ...(name !== undefined && { name, name_folded: fold(name) }),
      ...(description !== undefined && { description, description_folded: fold(description) }),
    })
    .where('type', '=', type)
    .where('id', '=', id)
    .where('deleted', '=', 0)
    .$if(expectedVersion !== 0, query => query.where('current_version', '=', expectedVersion))
    .returning(DESCRIPTOR_COLUMNS)
    .executeTakeFirst();
  if (!row) throw await whyUnchanged(db, change);
  return toDescriptor(row);
}

/** The earliest version whose conversations may go on with this one: itself unless it was made compatible. */
async function compatibleFromOf(db: Db, type: DocumentType, id: string, version: number): Promise<number> {
  const row = await db
    .selectFrom('document_versions')
    .select('compatible_from')
    .where('type', '=', type)
    .where('id', '=', id)
    .where('version', '=', version)
    .executeTakeFirst();
  return row?.compatible_from ?? version;
}

/** Without `version`, or with 0, the current one unless deleted; by number also after a deletion that was not permanent. */
export async function readDocument(
  db: Db,
  type: DocumentType,
  id: string,
  version = 0,
): Promise<Document | undefined> {
  const row = await db
    .selectFrom('document_versions as v')
    .select(['v.version', 'v.body', 'v.created_by', 'v.created_at'])
    .where('v.type', '=', type)
    .where('v.id', '=', id)
    .$if(version !== 0, query => query.where('v.version', '=', version))
    .$if(version === 0, query =>
      query
        .innerJoin('documents as d', join =>
          join
            .onRef('d.type', '=', 'v.type')
            .onRef('d.id', '=', 'v.id')
            .onRef('d.current_version', '=', 'v.version'),
        )
        .where('d.deleted', '=', 0),
    )
    .executeTakeFirst();
  return (
    row && {
      type,
      id,
      version: row.version,
      body: JSON.parse(row.body),
      createdBy: row.created_by,
      createdAt: row.created_at,
    }
  );
}

/** `undefined` when it is not there or was deleted. */
export async function readDescriptor(
  db: Db,
  type: DocumentType,
  id: string,
): Promise<Descriptor | undefined> {
  const row = await db
    .selectFrom('documents')
    .select(DESCRIPTOR_COLUMNS)
    .where('type', '=', type)
    .where('id', '=', id)
    .where('deleted', '=', 0)
    .executeTakeFirst();
  return row && toDescriptor(row);
}

/**
 * Descriptors that are not deleted, last modified first and then by id. `filter` keeps those whose name or description
 * contains it, whatever the case of the letters, of any alphabet.
 */
export async function listDescriptors(
  db: Db,
  type: DocumentType,
  options: {
    readonly filter?: string | undefined;
    /** Only documents whose ids this query gives. */
    readonly within?: SelectQueryBuilder<Schema, 'agents', { id: string }> | undefined;
    /** Only documents this principal made. */
    readonly createdBy?: string | undefined;
    readonly limit: number;
  },
): Promise<Descriptor[]> {
  const { filter, within, createdBy, limit } = options;
  const rows = await db
    .selectFrom('documents')
    .select(DESCRIPTOR_COLUMNS)
    .where('type', '=', type)
    .where('deleted', '=', 0)
    .$if(filter !== undefined && filter !== '', query => query.where(describedAs(filter!)))
    .$if(within !== undefined, query => query.where('id', 'in', within!))
    .$if(createdBy !== undefined, query => query.where('created_by', '=', createdBy!))
    .orderBy('modified_at', 'desc')
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(toDescriptor);
}

/** Who made the document, also when it is deleted and its versions are still there. */
export async function findDocumentCreator(
  db: Db,
  type: DocumentType,
  id: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('documents')
    .select('created_by')
    .where('type', '=', type)
    .where('id', '=', id)
    .executeTakeFirst();
  return row?.created_by;
}

/** What every version of a document holds, the first one first. */
export async function listBodies(db: Db, type: DocumentType, id: string): Promise<unknown[]> {
  const rows = await db
    .selectFrom('document_versions')
    .select('body')
    .where('type', '=', type)
    .where('id', '=', id)
    .orderBy('version')
    .execute();
  return rows.map(row => JSON.parse(row.body) as unknown);
}

/** Names a document, without a version. */
export interface DocumentName {
  readonly type: DocumentType;
  readonly id: string;
}

/** Versions that are looked through at once. */
const PAGE = 500;

/**
 * For each of the documents, as `type/id`, the agents and workflows that name it in any version, as `type/id`; those that are deleted
 * do not count. Reads every agent and workflow there is, a page at a time: for rare deeds.
 */
export async function findHolders(
  db: Db,
  names: readonly DocumentName[],
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const holders = new Map(names.map(({ type, id }) => [`${type}/${id}`, new Set<string>()]));
  if (holders.size === 0) return holders;
  let last = { type: '', id: '', version: 0 };
  for (;;) {
    const page = await db
      .selectFrom('document_versions as v')
      .innerJoin('documents as d', join => join.onRef('d.type', '=', 'v.type').onRef('d.id', '=', 'v.id'))
      .select(['v.type', 'v.id', 'v.version', 'v.body'])
      .where('v.type', 'in', ['agent', 'workflow'] satisfies DocumentType[])
      .where('d.deleted', '=', 0)
      .where(eb =>
        eb(eb.refTuple('v.type', 'v.id', 'v.version'), '>', eb.tuple(last.type, last.id, last.version)),
      )
      .orderBy('v.type')
      .orderBy('v.id')
      .orderBy('v.version')
      .limit(PAGE)
      .execute();
    for (const { type, id, body } of page) {
      for (const [, named] of body.matchAll(/"patchbay:\/\/([a-z]+\/[a-z0-9_-]+)\?version=/g)) {
        holders.get(named!)?.add(`${type}/${id}`);
      }
    }
    const end = page.at(-1);
    if (!end || page.length < PAGE) return holders;
    last = end;
  }
}

/**
 * Hides the document from everything but reading a version by its number, or removes it with all versions when permanent,
 * which also works on a hidden one. Answers the version that was current. Throws `conflict` on a stale version and `not_found`, as `updateDocument` does.
 */
export async function deleteDocument(db: Db, deletion: DocumentToDelete): Promise<number> {
  const { type, id, expectedVersion, permanent, by, at } = deletion;
  refuseNegative(expectedVersion);
  const changed = permanent
    ? await db
        .deleteFrom('documents')
        .where('type', '=', type)
        .where('id', '=', id)
        .$if(expectedVersion !== 0, query => query.where('current_version', '=', expectedVersion))
        .returning('current_version')
        .executeTakeFirst()
    : await db
        .updateTable('documents')
        .set({ deleted: 1, modified_by: by, modified_at: at })
        .where('type', '=', type)
        .where('id', '=', id)
        .where('deleted', '=', 0)
        .$if(expectedVersion !== 0, query => query.where('current_version', '=', expectedVersion))
        .returning('current_version')
        .executeTakeFirst();
  if (!changed) throw await whyUnchanged(db, deletion);
  await noteChange(db, type, id);
  if (permanent) publish(db, { kind: 'document-removed', type, id });
  return changed.current_version;
}

/** Of the documents only an agent's carries something that is kept in memory: the words people know it by. */
async function noteChange(db: Db, type: DocumentType, id: string): Promise<void> {
  if (type !== 'agent') return;
  await noteAgentChange(db, id);
  publish(db, { kind: 'agent-changed', agentId: id });
}

/** For the other tables' joins; `toDescriptor` reads them. */
export const DESCRIPTOR_COLUMNS = [
  'documents.type',
  'documents.id',
  'documents.current_version',
  'documents.name',
  'documents.description',
  'documents.created_by',
  'documents.created_at',
  'documents.modified_by',
  'documents.modified_at',
] as const;

export function toDescriptor(
  row: Omit<Schema['documents'], 'deleted' | 'name_folded' | 'description_folded'>,
): Descriptor {
  return {
    type: row.type as DocumentType,
    id: row.id,
    currentVersion: row.current_version,
    name: row.name,
    description: row.description,
    createdBy: row.created_by,
    createdAt: row.created_at,
    modifiedBy: row.modified_by,
    modifiedAt: row.modified_at,
  };
}

async function insertVersion(
  db: Db,
  document: Document,
  compatibleFrom: number | null = null,
): Promise<void> {
  await db
    .insertInto('document_versions')
    .values({
      type: document.type,
      id: document.id,
      version: document.version,
      body: JSON.stringify(document.body),
      created_by: document.createdBy,
      created_at: document.createdAt,
      compatible_from: compatibleFrom,
    })
    .execute();
}

async function whyUnchanged(
  db: Db,
  wanted: {
    readonly type: DocumentType;
    readonly id: string;
    readonly expectedVersion: number;
    readonly permanent?: boolean;
  },
): Promise<PlatformError> {
  const { type, id, expectedVersion } = wanted;
  const row = await db
    .selectFrom('documents')
    .select(['current_version', 'deleted'])
    .where('type', '=', type)
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row || (row.deleted === 1 && !wanted.permanent)) {
    const kind = type === 'agent' ? 'agent_not_found' : 'not_found';
    return new PlatformError(kind, `There is no ${type} document with the id ${id}.`);
  }
  return staleVersion(type, id, { currentVersion: row.current_version, expectedVersion });
}

/** The change was made from a version that is not the current one. */
export function staleVersion(
  type: DocumentType,
  id: string,
  versions: { readonly currentVersion: number; readonly expectedVersion: number },
): PlatformError {
  return new PlatformError(
    'conflict',
    `The ${type} document ${id} is at version ${versions.currentVersion}, not ${versions.expectedVersion}: read the current version and make the change from it.`,
    { details: { ...versions } },
  );
}

function refuseNegative(expectedVersion: number): void {
  if (!Number.isSafeInteger(expectedVersion) || expectedVersion < 0) {
    throw new PlatformError(
      'invalid',
      `version must be a whole number from 1, or 0 for the current version; it is ${expectedVersion}.`,
    );
  }
}

/** Holds where name or description of a document contain the text, whatever the case of the letters. */
export function describedAs(text: string): RawBuilder<SqlBool> {
  const pattern = containing(text);
  return sql<SqlBool>`(name_folded like ${pattern} escape '!' or description_folded like ${pattern} escape '!')`;
}

/** The engines fold only ASCII alike, so letters are folded here. */
function fold(text: string): string {
  return normalizeText(text, 'NFC').toLowerCase();
}

/** SQLite refuses patterns above 50 000 bytes. */
const MAX_FILTER = 1_000;

function containing(filter: string): string {
  if (filter.length > MAX_FILTER) {
    throw new PlatformError(
      'invalid',
      `filter must be ${MAX_FILTER} characters at most; it has ${filter.length}.`,
    );
  }
  return `%${fold(filter).replaceAll(/[!%_]/g, '!$&')}%`;
}
