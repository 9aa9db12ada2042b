import type { Schema } from '../schema.ts';
import type { Db } from '../store.ts';

/** A file as its row keeps it; the bytes are in chunks beside it. Times are epoch ms. */
export interface FileRecord {
  readonly id: string;
  readonly ownerId: string;
  readonly filename: string;
  readonly contentType: string;
  /** Bytes: as declared, and since the upload as they are. */
  readonly size: number;
  /** After it no upload is begun. */
  readonly uploadUntil: number;
  readonly createdAt: number;
  /** `undefined` until the bytes are there. */
  readonly content: FileContent | undefined;
}

export interface FileContent {
  /** Names the chunks that count: of several uploads of one file the first complete one. */
  readonly uploadId: string;
  /** In hex. */
  readonly sha256: string;
  readonly uploadedAt: number;
}

export async function insertFile(db: Db, file: Omit<FileRecord, 'content'>): Promise<void> {
  await db
    .insertInto('files')
    .values({
      id: file.id,
      owner_id: file.ownerId,
      filename: file.filename,
      content_type: file.contentType,
      size: file.size,
      upload_until: file.uploadUntil,
      upload_id: null,
      sha256: null,
      created_at: file.createdAt,
      uploaded_at: null,
    })
    .execute();
}

export async function findFile(db: Db, id: string): Promise<FileRecord | undefined> {
  const row = await db.selectFrom('files').selectAll().where('id', '=', id).executeTakeFirst();
  return row && toRecord(row);
}

/** The owner's files of these ids, in no order. */
export async function findFilesOf(db: Db, ownerId: string, ids: readonly string[]): Promise<FileRecord[]> {
  const rows = await db
    .selectFrom('files')
    .selectAll()
    .where('owner_id', '=', ownerId)
    .where('id', 'in', ids)
    .execute();
  return rows.map(toRecord);
}

/** By id. */
export async function listFiles(
  db: Db,
  page: { readonly ownerId: string; readonly limit: number; readonly after?: string | undefined },
): Promise<FileRecord[]> {
  let query = db.selectFrom('files').selectAll().where('owner_id', '=', page.ownerId);
  if (page.after !== undefined) query = query.where('id', '>', page.after);
  return (await query.orderBy('id').limit(page.limit).execute()).map(toRecord);
}

/** What an owner's files come to, those counted that are still to be uploaded. */
export async function sumFiles(db: Db, ownerId: string): Promise<{ files: number; bytes: number }> {
  const row = await db
    .selectFrom('files')
    .select(eb => [
      eb.fn.countAll<number | string>().as('files'),
      eb.fn.sum<number | string>('size').as('bytes'),
    ])
    .where('owner_id', '=', ownerId)
    .executeTakeFirstOrThrow();
  return { files: Number(row.files), bytes: Number(row.bytes ?? 0) };
}

/** False when the file is gone: then the upload has no use. */
export async function insertFileChunk(
  db: Db,
  chunk: {
    readonly fileId: string;
    readonly uploadId: string;
    readonly index: number;
    readonly bytes: Uint8Array;
  },
): Promise<boolean> {
  const file = await db.selectFrom('files').select('id').where('id', '=', chunk.fileId).executeTakeFirst();
  if (!file) return false;
  await db
    .insertInto('file_chunks')
    .values({
      file_id: chunk.fileId,
      upload_id: chunk.uploadId,
      chunk_index: chunk.index,
      bytes: chunk.bytes,
    })
    .execute();
  return true;
}

/** The chunks of the upload are the file from now on, and those of other uploads go. False when the file is gone or has its bytes. */
export async function completeUpload(
  db: Db,
  upload: { readonly fileId: string } & FileContent,
): Promise<boolean> {
  const completed = await db
    .updateTable('files')
    .set({ upload_id: upload.uploadId, sha256: upload.sha256, uploaded_at: upload.uploadedAt })
    .where('id', '=', upload.fileId)
    .where('uploaded_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  if (!completed) return false;
  await db
    .deleteFrom('file_chunks')
    .where('file_id', '=', upload.fileId)
    .where('upload_id', '<>', upload.uploadId)
    .execute();
  return true;
}

/** The chunks of an upload that was broken off. */
export async function deleteUpload(db: Db, fileId: string, uploadId: string): Promise<void> {
  await db
    .deleteFrom('file_chunks')
    .where('file_id', '=', fileId)
    .where('upload_id', '=', uploadId)
    .execute();
}

export async function findFileChunk(
  db: Db,
  chunk: { readonly fileId: string; readonly uploadId: string; readonly index: number },
): Promise<Uint8Array | undefined> {
  const row = await db
    .selectFrom('file_chunks')
    .select('bytes')
    .where('file_id', '=', chunk.fileId)
    .where('upload_id', '=', chunk.uploadId)
    .where('chunk_index', '=', chunk.index)
    .executeTakeFirst();
  return row && new Uint8Array(row.bytes);
}

/** With its chunks. False when the owner has no such file. */
export async function deleteFile(db: Db, ownerId: string, id: string): Promise<boolean> {
  const row = await db
    .deleteFrom('files')
    .where('id', '=', id)
    .where('owner_id', '=', ownerId)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Files that were not uploaded until `notUploadedUntil`, and those uploaded before `uploadedBefore`: so many at once. Answers how many. */
export async function deleteOldFiles(
  db: Db,
  old: {
    readonly notUploadedUntil: number;
    readonly uploadedBefore: number | undefined;
    readonly limit: number;
  },
): Promise<number> {
  const { notUploadedUntil, uploadedBefore, limit } = old;
  const result = await db
    .deleteFrom('files')
    .where('id', 'in', eb =>
      eb
        .selectFrom('files as old')
        .select('old.id')
        .where(on =>
          on.or([
            on.and([on('old.uploaded_at', 'is', null), on('old.upload_until', '<', notUploadedUntil)]),
            ...(uploadedBefore === undefined ? [] : [on('old.uploaded_at', '<', uploadedBefore)]),
          ]),
        )
        .limit(limit),
    )
    .executeTakeFirst();
  return Number(result.numDeletedRows);
}

function toRecord(row: Schema['files']): FileRecord {
  const { upload_id: uploadId, sha256, uploaded_at: uploadedAt } = row;
  const isUploaded = uploadId !== null && sha256 !== null && uploadedAt !== null;
  return {
    id: row.id,
    ownerId: row.owner_id,
    filename: row.filename,
    contentType: row.content_type,
    size: row.size,
    uploadUntil: row.upload_until,
    createdAt: row.created_at,
    content: isUploaded ? { uploadId, sha256, uploadedAt } : undefined,
  };
}
