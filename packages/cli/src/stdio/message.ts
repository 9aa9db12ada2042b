/** A JSON-RPC message as far as a bridge looks into it. */
export interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

export type RequestId = string | number;

/** The messages of a JSON text: one, or those of a batch. `undefined` when it is no JSON-RPC at all. */
export function parseMessages(text: string): Message[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const parts = Array.isArray(value) ? value : [value];
  return parts.length > 0 && parts.every(isObject) ? parts : undefined;
}

/** The id of a request; `undefined` for notifications and answers. 1 and "1" are two ids. */
export function requestId(message: Message): RequestId | undefined {
  return typeof message.method === 'string' ? idOf(message) : undefined;
}

/** The id an answer answers; `undefined` for requests and notifications. */
export function answeredId(message: Message): RequestId | undefined {
  return message.method === undefined ? idOf(message) : undefined;
}

/** The request a `notifications/cancelled` names; `undefined` for every other message. */
export function cancelledId(message: Message): RequestId | undefined {
  if (message.method !== 'notifications/cancelled' || !isObject(message.params)) return undefined;
  return asId(message.params.requestId);
}

const PROTOCOL_VERSION = 'io.modelcontextprotocol/protocolVersion';

/** The revision a message of the stateless era carries with it; `undefined` in the eras with a handshake. */
export function statelessVersion(message: Message): string | undefined {
  if (!isObject(message.params) || !isObject(message.params._meta)) return undefined;
  const version = message.params._meta[PROTOCOL_VERSION];
  return typeof version === 'string' ? version : undefined;
}

/** The value of `Mcp-Name`: the tool, prompt, resource or task a request of the stateless era is about. */
export function targetName(message: Message): string | undefined {
  if (!isObject(message.params) || typeof message.method !== 'string') return undefined;
  const { name, uri, taskId } = message.params;
  const value = message.method.startsWith('tasks/')
    ? taskId
    : message.method === 'resources/read'
      ? uri
      : message.method === 'tools/call' || message.method === 'prompts/get'
        ? name
        : undefined;
  return typeof value === 'string' ? value : undefined;
}

function idOf(message: Message): RequestId | undefined {
  return asId(message.id);
}

function asId(value: unknown): RequestId | undefined {
  return typeof value === 'string' || typeof value === 'number' ? value : undefined;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
