import { type JSONRPCMessage, PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/client';

/** Where a request's `Mcp-Name` comes from (2026-07-28, Transports, Standard Request Headers). */
const NAMED_BY: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

/** Headers that repeat what a request of the stateless era says of itself; none in the older eras. */
export function messageHeaders(message: JSONRPCMessage): Record<string, string> {
  if (!('method' in message) || !('id' in message)) return {};
  const params = message.params as Readonly<Record<string, unknown>> | undefined;
  const version = (params?._meta as Readonly<Record<string, unknown>> | undefined)?.[
    PROTOCOL_VERSION_META_KEY
  ];
  if (typeof version !== 'string') return {};
  const named = NAMED_BY[message.method];
  const name = named === undefined ? undefined : params?.[named];
  return {
    'mcp-protocol-version': version,
    'mcp-method': message.method,
    ...(typeof name === 'string' && { 'mcp-name': headerValue(name) }),
  };
}

const SAFE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
const LOOKS_ENCODED = /^=\?base64\?.*\?=$/;

/** A value as a header may carry it: what is not safe there is encoded, and so is what would look encoded. */
function headerValue(text: string): string {
  if (SAFE.test(text) && !LOOKS_ENCODED.test(text)) return text;
  return `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`;
}
