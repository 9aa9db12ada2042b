import {
  isInitializeRequest,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  LATEST_PROTOCOL_VERSION,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { signSessionId, verifySessionId } from '../../auth/session/session-id.ts';
import type { Clock } from '../../kernel/clock.ts';
import { randomBase32 } from '../../kernel/ids.ts';
import { isObject } from '../../kernel/json.ts';
import type { Cancellations } from './cancellations.ts';
import type { Asking, Caller, McpDoor, Shows } from './door.ts';
import { answer, answerFailure, type Exchange, prepareCall } from './exchange.ts';
import type { FastPath } from './fast-path.ts';
import {
  answerOf,
  canAsk,
  completion,
  elicitationRequest,
  opensUrls,
  showsForms,
  withdrawal,
} from './forms.ts';
import { ASSUMED_REVISION, acceptsStream, OLDER_REVISIONS, withAcceptOfBoth } from './headers.ts';
import { idOf, jsonRpcErrorResponse } from './json-rpc.ts';
import { buildServer } from './server.ts';

const REVISION_WITH_BATCHES = '2025-03-26';
const MAX_BATCH = 50;
/** Revisions are dates. */
const FIRST_REVISION_WITH_FORMS = '2025-06-18';
const FIRST_REVISION_WITH_URLS = '2025-11-25';

interface Session {
  readonly id: string;
  /** What its client can show its person, if anything. */
  readonly shows: Shows | undefined;
}

export interface SessionOptions {
  /** Signs session ids; the same on every node. */
  readonly secret: Uint8Array;
  readonly days: number;
  readonly clock: Clock;
  /** Told of an id that is not this caller's at this address, and why. */
  readonly onRefused?: (caller: Caller, reason: string) => void;
}

/**
 * The revisions with a handshake, each request with a server of its own. A session id carries its own signed state, so any
 * node may serve it; a client needs none (C21).
 */
export function createOlderEras<C extends Caller>(
  door: McpDoor<C>,
  fastPath: FastPath<C>,
  sessions: SessionOptions,
  cancellations: Cancellations,
  keepAliveMs: number,
) {
  async function serveMessage(
    request: Request,
    message: unknown,
    caller: C,
    session: Session | undefined,
    mayStream: boolean,
  ): Promise<Response> {
    if (isJSONRPCResponse(message)) return takeResponse(message, caller, session);
    if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled') {
      const requestId = isObject(message.params) ? message.params.requestId : undefined;
      const isId = typeof requestId === 'string' || typeof requestId === 'number';
      if (isId && session !== undefined)
        cancellations.cancel(caller.principal.credential, session.id, requestId);
      return new Response(null, { status: 202 });
    }
    // Before anything is admitted: a cancel may come while the call still waits for the database.
    const isCall = isJSONRPCRequest(message) && message.method === 'tools/call';
    const cancellation = isCall ? cancellations.register(session?.id, message.id) : undefined;
    const shows = session?.shows;
    const fast = fastPath.serve({ request, message, caller, era: 'older', mayStream, cancellation, shows });
    if (fast) return fast;
    const outcome = await prepareCall(door, message, caller, 'older');
    if ('refusal' in outcome) {
      cancellation?.done();
      return outcome.refusal;
    }
    const { prepared } = outcome;
    const streaming = mayStream && prepared?.streams === true && acceptsStream(request.headers);
    const gone = new AbortController();
    const exchange: Exchange<C> = {
      caller,
      prepared,
      streaming,
      cancellation,
      asking: () => (shows && streaming ? askingOn(shows, gone.signal) : undefined),
      started: false,
      lateStatus: undefined,
    };
    const server = buildServer(door, exchange);
    const transport = new WebStandardStreamableHTTPServerTransport({
      enableJsonResponse: !streaming,
      keepAliveMs,
    });
    const send = (
      sent:
        | ReturnType<typeof elicitationRequest>
        | ReturnType<typeof withdrawal>
        | ReturnType<typeof completion>,
    ) =>
      // A client that went away hears nothing more.
      void transport.send(sent, { relatedRequestId: idOf(message)! }).catch(() => {});
    const askingOn = (shown: Shows, readerGone: AbortSignal): Asking => ({
      ...{ by: 'message', shows: shown },
      completed: id => send(completion(id)),
      send: question => send(elicitationRequest(question)),
      withdraw: id => send(withdrawal(id)),
      gone: readerGone,
    });
    await server.connect(transport);
    return answer(
      exchange,
      () => transport.handleRequest(withAcceptOfBoth(request), { parsedBody: message }),
      () => {
        gone.abort();
        void server.close();
      },
    );
  }

  /** What no question of ours has asked for is taken and not looked at. */
  async function takeResponse(
    response: { readonly id?: unknown },
    caller: C,
    session: Session | undefined,
  ): Promise<Response> {
    const { id } = response;
    if (door.takeAnswer && typeof id === 'string' && door.isQuestion?.(id)) {
      try {
        await door.takeAnswer(caller, session?.shows ? id : undefined, answerOf(response));
      } catch (thrown) {
        const { error, status } = answerFailure(thrown, caller);
        return jsonRpcErrorResponse(null, error, status);
      }
    }
    return new Response(null, { status: 202 });
  }

  async function serveBatch(
    request: Request,
    entries: unknown[],
    caller: C,
    session: Session | undefined,
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
        if (isInitialize(entry)) {
          return {
            jsonrpc: '2.0',
            id: idOf(entry),
            error: { code: -32600, message: 'initialize cannot be part of a batch.' },
          };
        }
        const response = await serveMessage(request, entry, caller, session, false);
        return response.status === 202 ? undefined : ((await response.json()) as unknown);
      }),
    );
    const present = answers.filter(answer => answer !== undefined);
    return present.length === 0 ? new Response(null, { status: 202 }) : Response.json(present);
  }

  function openSession(initialize: unknown, caller: C, response: Response): Response {
    const { protocolVersion: asked, capabilities } =
      isObject(initialize) && isObject(initialize.params) ? initialize.params : {};
    const version =
      typeof asked === 'string' && OLDER_REVISIONS.includes(asked) ? asked : LATEST_PROTOCOL_VERSION;
    const id = signSessionId(
      {
        resource: door.resource(caller),
        version,
        credential: caller.principal.credential,
        expires: sessions.clock.now() + sessions.days * 86_400_000,
        nonce: randomBase32(16),
        forms: version >= FIRST_REVISION_WITH_FORMS && showsForms(capabilities),
        urls: version >= FIRST_REVISION_WITH_URLS && opensUrls(capabilities),
      },
      sessions.secret,
    );
    response.headers.set('mcp-session-id', id);
    return response;
  }

  return {
    async serve(request: Request, body: unknown, caller: C): Promise<Response> {
      const { credential } = caller.principal;
      const opens = isInitialize(body);
      if (opens && !isInitializeRequest(body)) {
        const message = 'initialize needs params.protocolVersion, params.capabilities and params.clientInfo.';
        return jsonRpcErrorResponse(idOf(body), { code: -32602, message }, 400);
      }
      const sessionId = opens ? null : request.headers.get('mcp-session-id');
      let version = request.headers.get('mcp-protocol-version') ?? ASSUMED_REVISION;
      // An id names calls of one session only: without one, nobody can say whose id 1 is meant.
      let session: Session | undefined;
      if (sessionId !== null) {
        const verified = verifySessionId(
          sessionId,
          { resource: door.resource(caller), credential, now: sessions.clock.now() },
          sessions.secret,
        );
        if (!verified.ok) {
          const { reason } = verified.refusal;
          caller.log.info('unknown session id', { reason });
          sessions.onRefused?.(caller, reason);
          return jsonRpcErrorResponse(
            idOf(body),
            { code: -32001, message: 'Session not found; initialize again.' },
            404,
          );
        }
        version = verified.value.version;
        const { forms, urls } = verified.value;
        session = { id: sessionId, shows: canAsk({ forms, urls }) ? { forms, urls } : undefined };
      }
      if (Array.isArray(body)) return serveBatch(request, body, caller, session, version);
      const response = await serveMessage(request, body, caller, session, true);
      return opens && response.ok ? openSession(body, caller, response) : response;
    },
  };
}

function isInitialize(message: unknown): boolean {
  return isObject(message) && message.method === 'initialize';
}

function invalidRequest(message: string): Response {
  return jsonRpcErrorResponse(null, { code: -32600, message }, 400);
}
