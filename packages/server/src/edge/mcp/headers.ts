import { CLIENT_CAPABILITIES_META_KEY, PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server';
import { isObject } from '../../kernel/json.ts';
import type { Logger } from '../../kernel/logger.ts';

/** Revisions with a handshake, oldest first. */
export const OLDER_REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
/** What a client that names no revision is taken to speak (mcp.md 1.6). */
export const ASSUMED_REVISION = '2025-03-26';
const STATELESS_REVISION = '2026-07-28';

/** Only a caller that names the event stream gets one: curl's any-type default is answered as JSON (B-42). */
export function acceptsStream(headers: Headers): boolean {
  const types = headers.get('accept')?.split(',') ?? [];
  return types.some(
    type => /^\s*text\/event-stream\s*(?:;|$)/i.test(type) && !/;\s*q=0(?:\.0*)?\s*(?:;|$)/i.test(type),
  );
}

/** The SDK answers 406 where `Accept` does not list both types; B-41 and B-42 want an answer. */
export function withAcceptOfBoth(request: Request): Request {
  const accept = request.headers.get('accept');
  if (accept?.includes('application/json') && accept.includes('text/event-stream')) return request;
  return withHeaders(request, headers => headers.set('accept', 'application/json, text/event-stream'));
}

/** E-03: a version header nobody knows is logged and dropped, and the call goes on with the negotiated version. */
export function withKnownVersion(request: Request, body: unknown, log: Logger): Request {
  const version = request.headers.get('mcp-protocol-version');
  if (version === null || version === STATELESS_REVISION || OLDER_REVISIONS.includes(version)) return request;
  if (metaOf(body)?.[PROTOCOL_VERSION_META_KEY] !== undefined) return request;
  log.warn(`Invalid MCP protocol header: ${version.slice(0, 40)}`);
  return withHeaders(request, headers => headers.delete('mcp-protocol-version'));
}

/**
 * Nothing is prepared for a request the stateless era's rules are going to refuse: a header or `_meta` key that must be
 * there and is not, or a header that says another thing than the body.
 */
export function carriesStatelessHeaders(headers: Headers, body: unknown): boolean {
  const meta = metaOf(body);
  if (!isObject(body) || !isObject(body.params)) return false;
  return (
    meta?.[PROTOCOL_VERSION_META_KEY] === STATELESS_REVISION &&
    meta[CLIENT_CAPABILITIES_META_KEY] !== undefined &&
    headers.get('mcp-protocol-version') === STATELESS_REVISION &&
    headers.get('mcp-method') === body.method &&
    headerSays(headers.get('mcp-name'), NAMED_BY[body.method as string]?.(body.params))
  );
}

/** What `Mcp-Name` repeats of the params (SEP-2243). */
const NAMED_BY: Readonly<Record<string, (params: Record<string, unknown>) => unknown>> = {
  'tools/call': ({ name }) => name,
  'resources/read': ({ uri }) => uri,
};

/** A header may carry a value as it is or, marked, in base64. */
function headerSays(header: string | null, value: unknown): boolean {
  if (value === undefined) return header === null;
  return (
    typeof value === 'string' &&
    (header === value || header === `=?base64?${Buffer.from(value).toString('base64')}?=`)
  );
}

/** A copy without the body, which has been read. */
function withHeaders(request: Request, change: (headers: Headers) => void): Request {
  const headers = new Headers(request.headers);
  change(headers);
  return new Request(request.url, { method: request.method, headers, signal: request.signal });
}

export function metaOf(body: unknown): Record<string, unknown> | undefined {
  if (!isObject(body) || !isObject(body.params) || !isObject(body.params._meta)) return undefined;
  return body.params._meta;
}
