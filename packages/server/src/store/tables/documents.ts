import type { DocumentType } from '@patchbay/contract/ids';
import { type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { PlatformError } from '../../kernel/errors.ts';
import { publish } from '../events.ts';
import type { Schema } from '../schema.ts';
import type { Db } from '../store.ts';

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
  readonly by: string;
  readonly at: number;
}

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
  return toDescriptor(row);
}

/**
 * Makes the next version and returns the descriptor that names it. Of two updates made from the same version exactly one
 * succeeds; the other throws `conflict`. Throws `not_found` for a document that is not there or was deleted.
 */
export async function updateDocument(db: Db, change: DocumentToUpdate): Promise<Descriptor> {
  const { type, id, expectedVersion, name, description, by, at } = change;
  refuseNegative(expectedVersion);
  const row = await db
    .updateTable('documents')
    .set({
      current_version: sql`current_version + 1`,
      modified_by: by,
      modified_at: at,
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
  const version = row.current_version;
  await insertVersion(db, { type, id, version, body: change.body, createdBy: by, createdAt: at });
  publishChange(db, type, id);
  return toDescriptor(row);
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
    readonly limit: number;
  },
): Promise<Descriptor[]> {
  const { filter, within, limit } = options;
  const rows = await db
    .selectFrom('documents')
    .select(DESCRIPTOR_COLUMNS)
    .where('type', '=', type)
    .where('deleted', '=', 0)
    .$if(filter !== undefined && filter !== '', query => query.where(describedAs(filter!)))
    .$if(within !== undefined, query => query.where('id', 'in', within!))
    .orderBy('modified_at', 'desc')
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(toDescriptor);
}

/**
 * Hides the document from everything but reading a version by its number, or removes it with all versions when permanent,
 * which also works on a hidden one. Throws `conflict` on a stale version and `not_found`, as `updateDocument` does.
 */
export async function deleteDocument(db: Db, deletion: DocumentToDelete): Promise<void> {
  const { type, id, expectedVersion, permanent, by, at } = deletion;
  refuseNegative(expectedVersion);
  const changed = permanent
    ? await db
        .deleteFrom('documents')
        .where('type', '=', type)
        .where('id', '=', id)
        .$if(expectedVersion !== 0, query => query.where('current_version', '=', expectedVersion))
        .returning('id')
        .executeTakeFirst()
    : await db
        .updateTable('documents')
        .set({ deleted: 1, modified_by: by, modified_at: at })
        .where('type', '=', type)
        .where('id', '=', id)
        .where('deleted', '=', 0)
        .$if(expectedVersion !== 0, query => query.where('current_version', '=', expectedVersion))
        .returning('id')
        .executeTakeFirst();
  if (!changed) throw await whyUnchanged(db, deletion);
  publishChange(db, type, id);
}

/** Of the documents only an agent's carries something that is kept in memory: the words people know it by. */
function publishChange(db: Db, type: DocumentType, id: string): void {
  if (type === 'agent') publish(db, { kind: 'agent-changed', agentId: id });
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

async function insertVersion(db: Db, document: Document): Promise<void> {
  await db
    .insertInto('document_versions')
    .values({
      type: document.type,
      id: document.id,
      version: document.version,
      body: JSON.stringify(document.body),
      created_by: document.createdBy,
      created_at: document.createdAt,
      compatible_from: null,
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
    return new PlatformError('not_found', `There is no ${type} document with the id ${id}.`);
  }
  return new PlatformError(
    'conflict',
    `The ${type} document ${id} is at version ${row.current_version}, not ${expectedVersion}: read the current version and make the change from it.`,
    { details: { currentVersion: row.current_version, expectedVersion } },
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
  return text.normalize('NFC').toLowerCase();
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
