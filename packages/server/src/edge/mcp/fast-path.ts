import { isSpecType, ProtocolError, SERVER_INFO_META_KEY, type Tool } from '@modelcontextprotocol/server';
import { isObject } from '../../kernel/json.ts';
import type { Cancellation } from './cancellations.ts';
import type { Asking, Caller, Era, McpDoor, PreparedCall, Shows } from './door.ts';
import { answerFailure, prepareCall } from './exchange.ts';
import { asksByResult, completion, elicitationRequest, withdrawal } from './forms.ts';
import { acceptsStream, carriesStatelessHeaders } from './headers.ts';
import type { JsonRpcError } from './json-rpc.ts';
import { resourceMethods } from './resources.ts';
import { eventStream } from './stream.ts';

/** One message on its way to an answer. */
export interface Delivery<C extends Caller> {
  readonly request: Request;
  readonly message: unknown;
  readonly caller: C;
  readonly era: Era;
  /** False inside a batch, whose answer is one JSON. */
  readonly mayStream: boolean;
  /** In the older eras: how a `notifications/cancelled` ends this call, from before it is admitted. */
  readonly cancellation?: Cancellation | undefined;
  /** In the older eras: what the client of the session can show its person, if anything. */
  readonly shows?: Shows | undefined;
}

/** Answers what it knows to the byte; `undefined` leaves a message to the SDK. */
export interface FastPath<C extends Caller> {
  serve(delivery: Delivery<C>): Promise<Response> | undefined;
  /** Remembers what the SDK accepted, so that the next request of this form is known. */
  learn(message: unknown, response: Response): void;
}

interface Regular {
  readonly id: string | number;
  readonly method: string;
  readonly params: Record<string, unknown>;
  readonly progressToken: string | number | undefined;
}

const MAX_ENVELOPES = 500;
/** Longer than any client's; what is longer goes the SDK's way each time. */
const MAX_ENVELOPE_LENGTH = 2_000;

/**
 * The hot methods without the SDK in between: calls, lists and reads in the form every client sends them. It answers exactly
 * as the SDK would (`fast-path.test.ts` compares them byte for byte) at a fraction of its cost; whatever looks unusual goes
 * the SDK's way, which stays the judge of what is valid.
 */
export function createFastPath<C extends Caller>(door: McpDoor<C>, keepAliveMs: number): FastPath<C> {
  /** `_meta` objects of the stateless era, as JSON, that the SDK has accepted. Clients send the same one each time. */
  const envelopes = new Set<string>();
  /** Lists are prepared values: the same list is written down once. */
  const listJson = new WeakMap<readonly Tool[], string>();

  function toolsJson(caller: C): string {
    const tools = door.tools(caller);
    let json = listJson.get(tools);
    if (json === undefined) {
      json = JSON.stringify(tools);
      listJson.set(tools, json);
    }
    return json;
  }

  /** `{"result":{...},"jsonrpc":"2.0","id":...}` from the inside of the result's braces. */
  function resultJson(
    { caller, era }: Delivery<C>,
    id: string | number,
    members: string,
    isCacheable: boolean,
  ): string {
    if (era === 'older') return `{"result":{${members}},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`;
    const hints = isCacheable ? ',"ttlMs":0,"cacheScope":"private"' : '';
    const meta = JSON.stringify({ [SERVER_INFO_META_KEY]: door.serverInfo(caller) });
    return `{"result":{${members},"resultType":"complete"${hints},"_meta":${meta}},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`;
  }

  /** One that asks says so itself. */
  function callResultJson(delivery: Delivery<C>, id: string | number, result: object): string {
    if (!('resultType' in result)) return resultJson(delivery, id, membersOf(result), false);
    const meta = { [SERVER_INFO_META_KEY]: door.serverInfo(delivery.caller) };
    return JSON.stringify({ result: { ...result, _meta: meta }, jsonrpc: '2.0', id });
  }

  function answerOne(delivery: Delivery<C>, id: string | number, members: string): Response {
    return jsonResponse(resultJson(delivery, id, members, true), 200);
  }

  async function answerRead(
    delivery: Delivery<C>,
    { id }: Regular,
    read: Promise<object>,
  ): Promise<Response> {
    try {
      return answerOne(delivery, id, membersOf(await read));
    } catch (thrown) {
      if (!(thrown instanceof ProtocolError)) throw thrown;
      const { code, message, data } = thrown;
      return jsonResponse(errorJson(id, { code, message, data }), 200);
    }
  }

  async function answerCall(delivery: Delivery<C>, regular: Regular): Promise<Response> {
    const { request, message, caller, era, cancellation } = delivery;
    const outcome = await prepareCall(door, message, caller, era);
    if ('refusal' in outcome) {
      cancellation?.done();
      return outcome.refusal;
    }
    const prepared = outcome.prepared!;
    const { id } = regular;
    const streaming = delivery.mayStream && prepared.streams && acceptsStream(request.headers);
    if (streaming) return streamCall(delivery, regular, prepared);
    try {
      const result = await caller.open.run(cancellation?.signal ?? request.signal, signal =>
        prepared.run({
          signal,
          progress: () => {},
          // Without a stream there is no way to ask in the older eras.
          asking: () => (era === 'stateless' ? asksByResult(message) : undefined),
        }),
      );
      return jsonResponse(callResultJson(delivery, id, result), 200);
    } catch (thrown) {
      const { error, status } = answerFailure(thrown, caller);
      return jsonResponse(errorJson(id, error), status);
    } finally {
      cancellation?.done();
    }
  }

  /** The stream opens at once; a broken one cancels in the stateless era and is only no longer heard in the older ones. */
  function streamCall(
    delivery: Delivery<C>,
    { id, progressToken }: Regular,
    prepared: PreparedCall,
  ): Response {
    const { message, caller, era, cancellation } = delivery;
    const broken = new AbortController();
    const token = progressToken ?? (era === 'older' ? id : undefined);
    return eventStream(keepAliveMs, broken, async send => {
      let progress = 0;
      const asking = (): Asking | undefined => {
        if (era === 'stateless') return asksByResult(message);
        const { shows } = delivery;
        if (!shows) return undefined;
        return {
          ...{ by: 'message', shows },
          completed: asked => send(JSON.stringify(completion(asked))),
          send: question => send(JSON.stringify(elicitationRequest(question))),
          withdraw: asked => send(JSON.stringify(withdrawal(asked))),
          gone: broken.signal,
        };
      };
      try {
        const result = await caller.open.run(cancellation?.signal ?? broken.signal, signal =>
          prepared.run({
            signal,
            progress: text => {
              if (token === undefined) return;
              progress += 1;
              send(progressJson(token, progress, text));
            },
            asking,
          }),
        );
        send(callResultJson(delivery, id, result));
      } catch (thrown) {
        send(errorJson(id, answerFailure(thrown, caller).error));
      } finally {
        cancellation?.done();
      }
    });
  }

  return {
    serve(delivery) {
      const { caller, era } = delivery;
      const regular = asRegular(delivery.message);
      if (!regular || !isUsual(regular, delivery, envelopes)) return undefined;
      const { method, params, id } = regular;
      const resources = door.resources && resourceMethods(door.resources, caller);
      switch (method) {
        case 'ping':
          return era === 'older' ? Promise.resolve(answerOne(delivery, id, '')) : undefined;
        case 'tools/list':
          return Promise.resolve(answerOne(delivery, id, `"tools":${toolsJson(caller)}`));
        case 'tools/call':
          return answerCall(delivery, regular);
        case 'resources/list':
          return resources && answerRead(delivery, regular, resources.list());
        case 'resources/templates/list':
          return resources && answerRead(delivery, regular, resources.templates());
        case 'resources/read':
          return resources && answerRead(delivery, regular, resources.read(params.uri as string));
        default:
          return undefined;
      }
    },

    learn(message, response) {
      // Of these two the SDK refuses a wrong envelope by status; a call may answer an error on its stream with 200.
      // A message without an id is a notification, which it takes without looking at the envelope.
      const method = asRegular(message)?.method;
      if (!response.ok || (method !== 'server/discover' && method !== 'tools/list')) return;
      const envelope = envelopeOf(message);
      if (envelope === undefined || envelope.length > MAX_ENVELOPE_LENGTH || envelopes.has(envelope)) return;
      if (envelopes.size >= MAX_ENVELOPES) envelopes.delete(envelopes.values().next().value!);
      envelopes.add(envelope);
    },
  };
}

const MESSAGE_KEYS = new Set(['jsonrpc', 'id', 'method', 'params']);

/** A request in the plainest form: nothing beside its four members, an id and a token no reader could mistake. */
function asRegular(message: unknown): Regular | undefined {
  if (!isObject(message) || Object.keys(message).some(key => !MESSAGE_KEYS.has(key))) return undefined;
  const { jsonrpc, id, method, params = {} } = message;
  if (jsonrpc !== '2.0' || !isId(id) || typeof method !== 'string' || !isObject(params)) return undefined;
  const { _meta: meta } = params;
  if (meta === undefined) return { id, method, params, progressToken: undefined };
  if (!isObject(meta)) return undefined;
  const { progressToken } = meta;
  if (progressToken !== undefined && !isId(progressToken)) return undefined;
  return { id, method, params, progressToken };
}

function isId(value: unknown): value is string | number {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

/** The params each method has where nothing unusual is asked for. */
const USUAL_PARAMS: Readonly<Record<string, readonly string[]>> = {
  ping: ['_meta'],
  'tools/list': ['_meta'],
  'tools/call': ['name', 'arguments', '_meta'],
  'resources/list': ['_meta'],
  'resources/templates/list': ['_meta'],
  'resources/read': ['uri', '_meta'],
};

function isUsual<C extends Caller>(
  { method, params }: Regular,
  { message, request, era }: Delivery<C>,
  envelopes: ReadonlySet<string>,
): boolean {
  const usual = USUAL_PARAMS[method];
  if (!usual || Object.keys(params).some(key => !usual.includes(key))) return false;
  if (method === 'tools/call' && !isSpecType.CallToolRequest(message)) return false;
  if (method === 'resources/read' && typeof params.uri !== 'string') return false;
  if (era === 'older') return !isObject(params._meta) || !Object.keys(params._meta).some(isReserved);
  if (!carriesStatelessHeaders(request.headers, message)) return false;
  const envelope = envelopeOf(message);
  return envelope !== undefined && envelopes.has(envelope);
}

/** What only the stateless era or an extension puts into `_meta`. */
function isReserved(key: string): boolean {
  return key.startsWith('io.modelcontextprotocol/');
}

/** The `_meta` of a request without what differs from call to call. */
function envelopeOf(message: unknown): string | undefined {
  if (!isObject(message) || !isObject(message.params) || !isObject(message.params._meta)) return undefined;
  const { progressToken: _, ...envelope } = message.params._meta;
  return JSON.stringify(envelope);
}

/** The inside of an object's braces. */
function membersOf(value: object): string {
  return JSON.stringify(value).slice(1, -1);
}

function errorJson(id: string | number, error: JsonRpcError): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error });
}

function progressJson(progressToken: string | number, progress: number, message: string | undefined): string {
  const params = { progressToken, progress, message };
  return JSON.stringify({ method: 'notifications/progress', params, jsonrpc: '2.0' });
}

function jsonResponse(json: string, status: number): Response {
  return new Response(json, { status, headers: { 'content-type': 'application/json' } });
}
