import { Hono } from 'hono';
import type { FileDownload, Files } from '../../agents/file/files.ts';
import type { Ticket } from '../../agents/file/signed-address.ts';
import { PlatformError } from '../../kernel/errors.ts';
import { fileInfo } from '../../operations/files/file-info.ts';
import type { ScopedEnv } from '../http/request-scope.ts';
import type { Authenticate } from './rest.ts';

/**
 * The bytes of files: the two routes that are no JSON. The upload is opened by its signed address alone, the download by its own or
 * by the owner's key.
 */
export function createFileContent(deps: {
  readonly files: Files;
  readonly authenticate: Authenticate;
}): Hono<ScopedEnv> {
  const { files, authenticate } = deps;
  const app = new Hono<ScopedEnv>();

  app.put('/files/:file_id/content', async c => {
    const request = c.req.raw;
    const stored = await files.upload(c.req.param('file_id'), ticketOf(new URL(request.url)), {
      contentType: request.headers.get('content-type') ?? undefined,
      bytes: bytesOf(request),
    });
    return c.json(fileInfo(stored));
  });

  app.get('/files/:file_id/content', async c => {
    const url = new URL(c.req.url);
    const by = url.searchParams.has('signature')
      ? ticketOf(url)
      : await authenticate(c.req.raw, c.get('scope'), 'agents');
    return toResponse(await files.download(c.req.param('file_id'), by));
  });
  return app;
}

/** A query that is no ticket becomes one that opens nothing. */
function ticketOf(url: URL): Ticket {
  const expires = url.searchParams.get('expires') ?? '';
  return {
    expires: /^\d{1,15}$/.test(expires) ? Number(expires) : 0,
    signature: url.searchParams.get('signature') ?? '',
  };
}

/** The body piece by piece. A sender that breaks off is told so, if they still listen, and it is no fault of ours. */
async function* bytesOf({ body }: Request): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(cause => {
        throw new PlatformError('invalid', 'The body broke off; send it again.', { cause });
      });
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** Nothing a browser would run or show within our pages, whatever the file says it is. */
function toResponse({ file, bytes }: FileDownload): Response {
  const iterator = bytes[Symbol.asyncIterator]();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await iterator.next();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        controller.error(error);
      }
    },
    async cancel() {
      await iterator.return?.();
    },
  });
  return new Response(body, {
    headers: {
      'content-type': file.contentType,
      'content-length': String(file.size),
      'content-disposition': dispositionOf(file.filename),
      'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
      'cross-origin-resource-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-store',
      'referrer-policy': 'no-referrer',
    },
  });
}

/** RFC 6266: the name as it is for those who know UTF-8, and what is left of it for the others. */
function dispositionOf(filename: string): string {
  const plain = filename.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_');
  const encoded = encodeURIComponent(filename).replaceAll(
    /['()*]/g,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
