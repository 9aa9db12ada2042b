import { type JSONRPCMessage, PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/client';
import { headerValue } from './header-value.ts';

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
