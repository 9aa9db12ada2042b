import {
  CLIENT_CAPABILITIES_META_KEY,
  classifyInboundRequest,
  createMcpHandler,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJsonContentType,
  LATEST_PROTOCOL_VERSION,
  PROTOCOL_VERSION_META_KEY,
  ProtocolError,
  ResourceNotFoundError,
  Server,
  type ServerContext,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { type SessionClaims, signSessionId, verifySessionId } from '../../auth/session/session-id.ts';
import type { Clock } from '../../kernel/clock.ts';
import { toPlatformError } from '../../kernel/errors.ts';
import { randomBase32 } from '../../kernel/ids.ts';
import type { Logger } from '../../kernel/logger.ts';
import { readJsonBody } from '../http/body.ts';
import { type Cancellation, Cancellations } from './cancellations.ts';
import type { Caller, Era, McpDoor, PreparedCall } from './door.ts';
import { idOf, isObject, type JsonRpcId, jsonRpcErrorResponse, toJsonRpcError } from './json-rpc.ts';
import { streamWithFirstByte } from './stream.ts';

/** Revisions with a handshake; the first is what a client that says nothing else is taken to speak (mcp.md 1.6). */
const OLDER_REVISIONS = ['2025-03-26', '2024-11-05', '2025-06-18', '2025-11-25'];
const MODERN_REVISION = '2026-07-28';
const REVISION_WITH_BATCHES = '2025-03-26';
const MAX_BATCH = 50;
const DEFAULT_KEEP_ALIVE_MS = 15_000;

export interface McpEndpoint<C extends Caller> {
  /** Serves one HTTP request of an authenticated caller, in whichever era it speaks. */
  serve(request: Request, caller: C, log: Logger): Promise<Response>;
  close(): Promise<void>;
}

/** One request while it is served: what the protocol layer needs to know about it. */
interface Exchange<C extends Caller> {
  readonly caller: C;
  readonly prepared: PreparedCall | undefined;
  /** The caller reads a stream. */
  readonly streaming: boolean;
  /** Set in the older eras, where a `notifications/cancelled` ends a call and a broken connection does not. */
  readonly cancellation: Cancellation | undefined;
  /** The prepared call was started; if it never is, it must be abandoned. */
  started: boolean;
  /** Status of a failure after the first check, for answers that are one JSON. */
  lateStatus: number | undefined;
}

interface EndpointDeps {
  readonly clock: Clock;
  /** Signs the older eras' session ids; the same on every node. */
  readonly sessionSecret: Uint8Array;
  readonly sessionDays: number;
  readonly maxBodyBytes: number;
  /** How often a silent stream gets a comment, so that no proxy takes it for dead. Default 15 s. */
  readonly keepAliveMs?: number;
}

/**
 * One MCP endpoint for all revisions (decisions.md 4). The SDK carries the protocol; what stands here are the corrections
 * in front of it (mcp.md 2.2), the sessions of the older eras, and the rule that a call is refused before the first byte.
 */
export function createMcpEndpoint<C extends Caller>(door: McpDoor<C>, deps: EndpointDeps): McpEndpoint<C> {
  const cancellations = new Cancellations();
  /** How a request finds its exchange again inside the SDK's factory. */
  const exchanges = new WeakMap<Request, Exchange<C>>();
  const { keepAliveMs = DEFAULT_KEEP_ALIVE_MS } = deps;
  const modernOptions = { legacy: 'reject', keepAliveMs } as const;
  const modernFactory = ({ requestInfo }: { requestInfo?: Request }) =>
    buildServer(exchanges.get(requestInfo!)!);
  const modern = createMcpHandler(modernFactory, modernOptions);
  const modernStream = createMcpHandler(modernFactory, { ...modernOptions, responseMode: 'sse' });

  function buildServer(exchange: Exchange<C>): Server {
    const { caller } = exchange;
    const instructions = door.instructions(caller);
    const server = new Server(door.serverInfo(caller), {
      capabilities: door.capabilities,
      ...(instructions !== undefined && { instructions }),
    });
    server.setRequestHandler('tools/list', () => ({ tools: [...door.tools(caller)] }));
    server.setRequestHandler('tools/call', (_request, ctx) => runCall(exchange, ctx));
    const { resources } = door;
    if (resources) {
      const guarded = async <T>(read: () => Promise<T> | T): Promise<T> => {
        try {
          return await read();
        } catch (thrown) {
          const error = toPlatformError(thrown, 'Reading a resource');
          if (error.kind === 'internal') door.onFailure(caller, error);
          const { code, message, data } = toJsonRpcError(error);
          throw new ProtocolError(error.kind === 'forbidden' ? resources.forbiddenCode : code, message, data);
        }
      };
      server.setRequestHandler('resources/list', () => guarded(() => resources.list(caller)));
      server.setRequestHandler('resources/templates/list', () => guarded(() => resources.templates(caller)));
      server.setRequestHandler('resources/read', async ({ params }) => {
        const content = await guarded(() => resources.read(caller, params.uri));
        if (!content) throw new ResourceNotFoundError(params.uri);
        return { contents: [content] };
      });
    }
    return server;
  }

  async function runCall(exchange: Exchange<C>, ctx: ServerContext) {
    const { prepared } = exchange;
    if (!prepared)
      throw new ProtocolError(
        -32602,
        'tools/call needs params.name (a string) and params.arguments (an object)',
      );
    exchange.started = true;
    try {
      return await prepared.run({
        signal: exchange.cancellation?.signal ?? ctx.mcpReq.signal,
        progress: progressSender(exchange, ctx),
      });
    } catch (thrown) {
      const error = toPlatformError(thrown, 'The call');
      if (error.kind === 'internal') door.onFailure(exchange.caller, error);
      exchange.lateStatus = error.row.httpStatus;
      const { code, message, data } = toJsonRpcError(error);
      throw new ProtocolError(code, message, data);
    } finally {
      exchange.cancellation?.done();
    }
  }

  /**
   * The client's token; without one the request id serves in the older eras (B-58, stock clients ignore it), and nothing is
   * sent in the stateless era, whose specification forbids it.
   */
  function progressSender(exchange: Exchange<C>, ctx: ServerContext): (message: string) => void {
    const asked = ctx.mcpReq._meta?.progressToken;
    const token = asked ?? (exchange.cancellation && ctx.mcpReq.id);
    if (!exchange.streaming || token === undefined) return () => {};
    let progress = 0;
    return message => {
      progress += 1;
      // A client that went away hears nothing more; its turn goes on.
      ctx.mcpReq
        .notify({ method: 'notifications/progress', params: { progressToken: token, progress, message } })
        .catch(() => {});
    };
  }

  /** Prepares a `tools/call` whose form is right; a wrong form is left to the SDK's own refusal. */
  async function prepare(message: unknown, caller: C, era: Era): Promise<PreparedCall | undefined> {
    if (!isJSONRPCRequest(message) || message.method !== 'tools/call' || !isObject(message.params))
      return undefined;
    const { name, arguments: args = {} } = message.params;
    if (typeof name !== 'string' || !isObject(args)) return undefined;
    return door.prepareCall(caller, name, args, era);
  }

  function refusal(id: JsonRpcId, thrown: unknown, caller: C): Response {
    const error = toPlatformError(thrown, 'The call');
    if (error.kind === 'internal') door.onFailure(caller, error);
    return jsonRpcErrorResponse(id, toJsonRpcError(error), error.row.httpStatus);
  }

  async function serveModern(request: Request, body: unknown, caller: C): Promise<Response> {
    let prepared: PreparedCall | undefined;
    if (carriesModernHeaders(request.headers, body)) {
      try {
        prepared = await prepare(body, caller, 'stateless');
      } catch (thrown) {
        return refusal(idOf(body), thrown, caller);
      }
    }
    const streaming = acceptsStream(request.headers);
    const exchange: Exchange<C> = {
      caller,
      prepared,
      streaming,
      cancellation: undefined,
      started: false,
      lateStatus: undefined,
    };
    exchanges.set(request, exchange);
    const handler = prepared?.streams && streaming ? modernStream : modern;
    return finish(exchange, await handler.fetch(request, { parsedBody: body }));
  }

  async function serveOlder(
    request: Request,
    body: unknown,
    caller: C,
    session: string,
    streamAllowed: boolean,
  ): Promise<Response> {
    if (isJSONRPCNotification(body) && body.method === 'notifications/cancelled') {
      const requestId = isObject(body.params) ? body.params.requestId : undefined;
      if (typeof requestId === 'string' || typeof requestId === 'number')
        cancellations.cancel(session, requestId);
      return new Response(null, { status: 202 });
    }
    let prepared: PreparedCall | undefined;
    try {
      prepared = await prepare(body, caller, 'older');
    } catch (thrown) {
      return refusal(idOf(body), thrown, caller);
    }
    const streaming = streamAllowed && prepared?.streams === true && acceptsStream(request.headers);
    const exchange: Exchange<C> = {
      caller,
      prepared,
      streaming,
      cancellation: prepared && isJSONRPCRequest(body) ? cancellations.register(session, body.id) : undefined,
      started: false,
      lateStatus: undefined,
    };
    const server = buildServer(exchange);
    const transport = new WebStandardStreamableHTTPServerTransport({
      enableJsonResponse: !streaming,
      keepAliveMs,
    });
    await server.connect(transport);
    const response = await transport.handleRequest(withAcceptOfBoth(request), { parsedBody: body });
    return finish(exchange, response, () => void server.close());
  }

  async function serveBatch(
    request: Request,
    entries: unknown[],
    caller: C,
    session: string,
    version: string,
  ): Promise<Response> {
    if (version !== REVISION_WITH_BATCHES) {
      return invalidRequest(
        `Batches exist only in protocol revision ${REVISION_WITH_BATCHES}; send one message a request.`,
      );
    }
    if (entries.length === 0) return invalidRequest('An empty batch asks for nothing.');
    if (entries.length > MAX_BATCH) return invalidRequest(`A batch takes ${MAX_BATCH} messages at the most.`);
    const answers = await Promise.all(
      entries.map(async entry => {
        if (isObject(entry) && entry.method === 'initialize') {
          return {
            jsonrpc: '2.0',
            id: idOf(entry),
            error: { code: -32600, message: 'initialize cannot be part of a batch.' },
          };
        }
        const response = await serveOlder(request, entry, caller, session, false);
        return response.status === 202 ? undefined : ((await response.json()) as unknown);
      }),
    );
    const present = answers.filter(answer => answer !== undefined);
    return present.length === 0 ? new Response(null, { status: 202 }) : Response.json(present);
  }

  /** The answer as it leaves. `onEnd` runs when nothing more will be sent. */
  async function finish(
    exchange: Exchange<C>,
    response: Response,
    onEnd: () => void = () => {},
  ): Promise<Response> {
    if (isEventStream(response)) return streamWithFirstByte(response, onEnd);
    onEnd();
    if (exchange.prepared && !exchange.started) {
      exchange.cancellation?.done();
      await exchange.prepared.abandon();
    }
    if (exchange.lateStatus === undefined) return response;
    // A failure after the first check keeps its status where the answer is one JSON.
    return new Response(response.body, { status: exchange.lateStatus, headers: response.headers });
  }

  function openSession(body: unknown, caller: C, response: Response): Response {
    const asked = isObject(body) && isObject(body.params) ? body.params.protocolVersion : undefined;
    const version =
      typeof asked === 'string' && OLDER_REVISIONS.includes(asked) ? asked : LATEST_PROTOCOL_VERSION;
    const claims: SessionClaims = {
      door: door.name,
      version,
      credential: caller.principal.credential,
      expires: deps.clock.now() + deps.sessionDays * 86_400_000,
      nonce: randomBase32(16),
    };
    response.headers.set('mcp-session-id', signSessionId(claims, deps.sessionSecret));
    return response;
  }

  return {
    async serve(request, caller, log) {
      if (request.method !== 'POST') {
        return jsonRpcErrorResponse(
          null,
          { code: -32000, message: 'Method not allowed: this endpoint takes POST.' },
          405,
          {
            Allow: 'POST',
          },
        );
      }
      if (!isJsonContentType(request.headers.get('content-type'))) {
        return jsonRpcErrorResponse(
          null,
          { code: -32600, message: 'Content-Type must be application/json.' },
          415,
        );
      }
      const read = await readJsonBody(request, deps.maxBodyBytes);
      if (!read.ok) {
        const [code, status] = read.refusal.reason === 'too_large' ? [-32600, 413] : [-32700, 400];
        return jsonRpcErrorResponse(null, { code, message: read.refusal.message }, status);
      }
      const body = read.value;
      const corrected = withKnownVersion(request, body, log);
      const outcome = classifyInboundRequest({
        httpMethod: 'POST',
        ...headerField('protocolVersionHeader', corrected.headers.get('mcp-protocol-version')),
        ...headerField('mcpMethodHeader', corrected.headers.get('mcp-method')),
        ...headerField('mcpNameHeader', corrected.headers.get('mcp-name')),
        body,
      });
      // What the classification rejects is refused by the handler that knows the wording of each rejection.
      if (outcome.kind !== 'legacy') return serveModern(corrected, body, caller);

      const isInitialize = isObject(body) && body.method === 'initialize';
      const sessionHeader = isInitialize ? null : corrected.headers.get('mcp-session-id');
      let version = corrected.headers.get('mcp-protocol-version') ?? OLDER_REVISIONS[0]!;
      if (sessionHeader !== null) {
        const session = verifySessionId(
          sessionHeader,
          { door: door.name, credential: caller.principal.credential, now: deps.clock.now() },
          deps.sessionSecret,
        );
        if (!session.ok) {
          log.info('unknown session id', { reason: session.refusal.reason });
          return jsonRpcErrorResponse(
            idOf(body),
            { code: -32001, message: 'Session not found; initialize again.' },
            404,
          );
        }
        version = session.value.version;
      }
      const sessionKey = `${caller.principal.credential} ${sessionHeader ?? ''}`;
      if (Array.isArray(body)) return serveBatch(corrected, body, caller, sessionKey, version);
      const response = await serveOlder(corrected, body, caller, sessionKey, true);
      return isInitialize && response.ok ? openSession(body, caller, response) : response;
    },
    async close() {
      await Promise.all([modern.close(), modernStream.close()]);
    },
  };
}

function invalidRequest(message: string): Response {
  return jsonRpcErrorResponse(null, { code: -32600, message }, 400);
}

function headerField<K extends string>(name: K, value: string | null): { [P in K]?: string } {
  return value === null ? {} : ({ [name]: value } as { [P in K]?: string });
}

function isEventStream(response: Response): boolean {
  return response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
}

/** Only a caller that names the event stream gets one: curl's any-type default is answered as JSON (B-42). */
function acceptsStream(headers: Headers): boolean {
  return headers.get('accept')?.includes('text/event-stream') ?? false;
}

/** The SDK answers 406 where `Accept` does not list both types; B-41 and B-42 want an answer. */
function withAcceptOfBoth(request: Request): Request {
  const accept = request.headers.get('accept');
  if (accept?.includes('application/json') && accept.includes('text/event-stream')) return request;
  return withHeaders(request, headers => headers.set('accept', 'application/json, text/event-stream'));
}

/** E-03: a version header nobody knows is logged and dropped, and the call goes on with the negotiated version. */
function withKnownVersion(request: Request, body: unknown, log: Logger): Request {
  const version = request.headers.get('mcp-protocol-version');
  if (
    version === null ||
    version === MODERN_REVISION ||
    OLDER_REVISIONS.includes(version) ||
    hasModernMeta(body)
  )
    return request;
  log.warn(`Invalid MCP protocol header: ${version.slice(0, 40)}`);
  return withHeaders(request, headers => headers.delete('mcp-protocol-version'));
}

/** A copy without the body, which has been read. */
function withHeaders(request: Request, change: (headers: Headers) => void): Request {
  const headers = new Headers(request.headers);
  change(headers);
  return new Request(request.url, { method: request.method, headers, signal: request.signal });
}

function metaOf(body: unknown): Record<string, unknown> | undefined {
  if (!isObject(body) || !isObject(body.params) || !isObject(body.params._meta)) return undefined;
  return body.params._meta;
}

function hasModernMeta(body: unknown): boolean {
  return metaOf(body)?.[PROTOCOL_VERSION_META_KEY] !== undefined;
}

/**
 * Nothing is prepared for a request the stateless era's rules are going to refuse: a header or `_meta` key that must be
 * there and is not, or a header that says another thing than the body.
 */
function carriesModernHeaders(headers: Headers, body: unknown): boolean {
  const meta = metaOf(body);
  if (!isObject(body) || !isObject(body.params)) return false;
  return (
    meta?.[PROTOCOL_VERSION_META_KEY] === MODERN_REVISION &&
    meta[CLIENT_CAPABILITIES_META_KEY] !== undefined &&
    headers.has('mcp-protocol-version') &&
    headers.get('mcp-method') === body.method &&
    headerSays(headers.get('mcp-name'), body.params.name)
  );
}

/** A header may carry a value as it is or, marked, in base64. */
function headerSays(header: string | null, value: unknown): boolean {
  return (
    typeof value === 'string' &&
    (header === value || header === `=?base64?${Buffer.from(value).toString('base64')}?=`)
  );
}
