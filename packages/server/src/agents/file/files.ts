import { createHash } from 'node:crypto';
import { isFileId } from '@patchbay/contract/ids';
import { mayUseFile } from '../../kernel/access.ts';
import type { Clock } from '../../kernel/clock.ts';
import { PlatformError } from '../../kernel/errors.ts';
import { newFileId, newUploadId } from '../../kernel/ids.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { Store } from '../../store/store.ts';
import {
  completeUpload,
  deleteFile,
  deleteOldFiles,
  deleteUpload,
  type FileRecord,
  findFile,
  findFileChunk,
  findFilesOf,
  insertFile,
  insertFileChunk,
  listFiles,
  sumFiles,
} from '../../store/tables/files.ts';
import { lockUser } from '../../store/tables/users.ts';
import type { Attachment } from '../step/step.ts';
import type { FileUse, Ticket, TicketSubject, Tickets } from './signed-address.ts';

/** A file as its owner sees it. */
export type StoredFile = FileRecord;

/** A file with an address somebody without a credential may use until `expires` (epoch ms). */
export interface AddressedFile {
  readonly file: StoredFile;
  readonly url: string;
  readonly expires: number;
}

/** A file on its way out: the bytes come one chunk after the other. */
export interface FileDownload {
  readonly file: StoredFile;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/**
 * Files that come with messages (B-67, BX-41): declared first, then uploaded to a signed address. Only the owner reaches a
 * file, whatever anybody's role; one of somebody else is not there, in the same words.
 */
export interface Files {
  /**
   * Declares a file and answers where its bytes go, within 15 minutes. Rejects with a `PlatformError`: `conflict` when the
   * owner's files come to more than they may.
   */
  presignUpload(
    principal: Principal,
    request: { readonly filename: string; readonly contentType: string; readonly size: number },
  ): Promise<AddressedFile>;
  /**
   * Takes the bytes of a declared file. They are stored chunk by chunk as they come, and count once all of them are there. The
   * same bytes again change nothing. Rejects with a `PlatformError`: `forbidden` for a ticket that does not open this,
   * `invalid` for another number of bytes or another type, `conflict` when other bytes are there already.
   */
  upload(
    fileId: string,
    ticket: Ticket,
    request: { readonly contentType: string | undefined; readonly bytes: AsyncIterable<Uint8Array> },
  ): Promise<StoredFile>;
  read(principal: Principal, fileId: string): Promise<StoredFile>;
  /** By id. */
  list(
    principal: Principal,
    page: { readonly limit: number; readonly after?: string | undefined },
  ): Promise<StoredFile[]>;
  remove(principal: Principal, fileId: string): Promise<void>;
  /** For whoever may read the file: an address that opens its bytes for 24 hours. */
  downloadAddress(file: StoredFile): { readonly url: string; readonly expires: number };
  /** For the owner, or for whoever holds a ticket. Rejects with `not_found` or `forbidden`, and with `wrong_state` before the upload. */
  download(fileId: string, by: Principal | Ticket): Promise<FileDownload>;
  /**
   * What an agent is told of the principal's files, in the order of the ids. Rejects with a `PlatformError` of kind `invalid` that
   * names the first one that is not there, not theirs or not uploaded (B-79).
   */
  attachmentsOf(principal: Principal, fileIds: readonly string[]): Promise<Attachment[]>;
  /** Removes files that were never uploaded, and those older than they are kept. */
  removeLeftovers(): Promise<void>;
}

/** Rows cost too, however small their files are. */
const MAX_FILES = 10_000;
const UPLOAD_WITHIN_MS = 15 * 60_000;
const DOWNLOAD_WITHIN_MS = 24 * 3_600_000;
/** An upload that began in time may take a while. */
const UPLOAD_TAKES_MS = 3_600_000;
/** In memory for each upload and download; one commit each. */
const CHUNK_BYTES = 512 * 1024;
const DAY_MS = 86_400_000;
const DELETE_AT_ONCE = 50;

export function createFiles(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly tickets: Tickets;
  /** Where people reach the platform, without a slash at the end. */
  readonly baseUrl: () => string;
  /** Bytes the files of one owner may come to. */
  readonly quotaBytes: number;
  /** Days a file is kept; 0 keeps it until its owner removes it. */
  readonly keepDays: number;
}): Files {
  const { store, clock, tickets, baseUrl, quotaBytes, keepDays } = deps;

  function addressOf(file: StoredFile, use: FileUse, withinMs: number) {
    const { expires, signature } = tickets.issue(subjectOf(file, use), clock.now() + withinMs);
    return {
      url: `${baseUrl()}/api/v1/files/${file.id}/content?expires=${expires}&signature=${signature}`,
      expires,
    };
  }

  /** Not asked for what can be no id: the engines differ about such texts. */
  const find = async (fileId: string) => (isFileId(fileId) ? findFile(store.db, fileId) : undefined);

  /** The file a ticket opens. An unknown file sounds like a wrong ticket. */
  async function openByTicket(fileId: string, ticket: Ticket, use: FileUse): Promise<StoredFile> {
    const file = await find(fileId);
    if (file && tickets.admits(subjectOf(file, use), ticket, clock.now())) return file;
    throw new PlatformError(
      'forbidden',
      `The address is not one of ours, or its time is over; ${use === 'upload' ? 'presign the upload again' : 'its owner gets a new one'}.`,
    );
  }

  async function readOwn(principal: Principal, fileId: string): Promise<StoredFile> {
    const file = await find(fileId);
    if (file && mayUseFile(principal, file)) return file;
    throw noSuchFile();
  }

  /** Stores the bytes as chunks of an upload of their own and answers their digest. */
  async function storeChunks(file: StoredFile, uploadId: string, bytes: AsyncIterable<Uint8Array>) {
    let index = 0;
    return digestOf(file, bytes, async chunk => {
      const isThere = await store.commit(db =>
        insertFileChunk(db, { fileId: file.id, uploadId, index, bytes: chunk }),
      );
      if (!isThere) throw noSuchFile();
      index += 1;
    });
  }

  async function takeBytes(file: StoredFile, bytes: AsyncIterable<Uint8Array>): Promise<StoredFile> {
    const uploadId = newUploadId();
    try {
      const sha256 = await storeChunks(file, uploadId, bytes);
      const content = { uploadId, sha256, uploadedAt: clock.now() };
      const completed = await store.commit(db => completeUpload(db, { fileId: file.id, ...content }));
      if (completed) return { ...file, content };
      // Another upload of the same file was quicker.
      const current = await findFile(store.db, file.id);
      if (current?.content?.sha256 !== sha256) throw current ? otherBytes() : noSuchFile();
      await store.commit(db => deleteUpload(db, file.id, uploadId));
      return current;
    } catch (thrown) {
      // What cannot be removed now goes with the file, or with the upload that is completed.
      await store.commit(db => deleteUpload(db, file.id, uploadId)).catch(() => {});
      throw thrown;
    }
  }

  async function* chunksOf(fileId: string, uploadId: string): AsyncGenerator<Uint8Array> {
    for (let index = 0; ; index += 1) {
      const chunk = await findFileChunk(store.db, { fileId, uploadId, index });
      if (!chunk) return;
      yield chunk;
    }
  }

  return {
    async presignUpload(principal, { filename, contentType, size }) {
      const now = clock.now();
      const file = {
        id: newFileId(),
        ownerId: principal.id,
        filename,
        contentType,
        size,
        uploadUntil: now + UPLOAD_WITHIN_MS,
        createdAt: now,
      };
      await store.commit(async db => {
        // One at a time, or several that count at once would all find room.
        await lockUser(db, principal.id);
        const { files, bytes } = await sumFiles(db, principal.id);
        if (files >= MAX_FILES || bytes + size > quotaBytes) throw quotaExceeded(files, bytes, quotaBytes);
        await insertFile(db, file);
      });
      const stored = { ...file, content: undefined };
      return { file: stored, ...addressOf(stored, 'upload', UPLOAD_WITHIN_MS) };
    },

    async upload(fileId, ticket, { contentType, bytes }) {
      const file = await openByTicket(fileId, ticket, 'upload');
      if (contentType !== undefined && mediaType(contentType) !== file.contentType) {
        throw new PlatformError('invalid', `content_type: was declared as ${file.contentType}; send that.`);
      }
      if (!file.content) return takeBytes(file, bytes);
      if ((await digestOf(file, bytes, async () => {})) !== file.content.sha256) throw otherBytes();
      return file;
    },

    read: readOwn,
    list: (principal, page) => listFiles(store.db, { ownerId: principal.id, ...page }),

    async remove(principal, fileId) {
      const { ownerId } = await readOwn(principal, fileId);
      await store.commit(db => deleteFile(db, ownerId, fileId));
    },

    downloadAddress: file => addressOf(file, 'download', DOWNLOAD_WITHIN_MS),

    async download(fileId, by) {
      const file = await ('signature' in by ? openByTicket(fileId, by, 'download') : readOwn(by, fileId));
      if (!file.content) throw new PlatformError('wrong_state', 'The file has not been uploaded yet.');
      return { file, bytes: chunksOf(file.id, file.content.uploadId) };
    },

    async attachmentsOf(principal, fileIds) {
      if (fileIds.length === 0) return [];
      const found = await findFilesOf(store.db, principal.id, fileIds);
      return fileIds.map((fileId, index) => {
        const file = found.find(({ id }) => id === fileId);
        if (file?.content && fileIds.indexOf(fileId) === index) return attachmentOf(file);
        const why = file?.content
          ? 'is named twice'
          : file
            ? 'names a file that has not been uploaded yet'
            : 'names no file of yours';
        throw new PlatformError('invalid', `attachments[${index}].file_id: ${why}.`);
      });
    },

    async removeLeftovers() {
      const now = clock.now();
      const old = {
        notUploadedUntil: now - UPLOAD_TAKES_MS,
        uploadedBefore: keepDays === 0 ? undefined : now - keepDays * DAY_MS,
        limit: DELETE_AT_ONCE,
      };
      while ((await store.commit(db => deleteOldFiles(db, old))) === DELETE_AT_ONCE);
    },
  };
}

/**
 * SHA-256 in hex of exactly the bytes the file was declared with, given to `take` in chunks of one size. Reading stops with the
 * first byte too many.
 */
async function digestOf(
  { size }: StoredFile,
  bytes: AsyncIterable<Uint8Array>,
  take: (chunk: Uint8Array) => Promise<void>,
): Promise<string> {
  const hash = createHash('sha256');
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  let received = 0;
  const flush = async () => {
    const chunk = Buffer.concat(waiting, waitingBytes);
    waiting = [];
    waitingBytes = 0;
    hash.update(chunk);
    await take(chunk);
  };
  for await (const piece of bytes) {
    received += piece.byteLength;
    if (received > size) throw wrongSize(size, `more than that came`);
    waiting.push(piece);
    waitingBytes += piece.byteLength;
    if (waitingBytes >= CHUNK_BYTES) await flush();
  }
  if (received < size) throw wrongSize(size, `${received} came`);
  if (waitingBytes > 0) await flush();
  return hash.digest('hex');
}

/** Without its parameters. */
function mediaType(contentType: string): string {
  return contentType.split(';', 1)[0]!.trim().toLowerCase();
}

function attachmentOf({ id, filename, contentType, size }: StoredFile): Attachment {
  return { fileId: id, fileName: filename, contentType, size };
}

function subjectOf({ id, size, contentType }: StoredFile, use: FileUse): TicketSubject {
  return { use, fileId: id, size, contentType };
}

function noSuchFile(): PlatformError {
  return new PlatformError('not_found', 'file_id: you have no such file.');
}

function otherBytes(): PlatformError {
  return new PlatformError(
    'conflict',
    'The file has other bytes already; presign an upload of its own for these.',
  );
}

function wrongSize(size: number, came: string): PlatformError {
  return new PlatformError('invalid', `size: was declared as ${size} bytes, and ${came}.`);
}

function quotaExceeded(files: number, bytes: number, quotaBytes: number): PlatformError {
  return new PlatformError(
    'conflict',
    `Your ${files} files come to ${bytes} bytes, and ${quotaBytes} bytes in ${MAX_FILES} files are allowed; remove some first.`,
  );
}
