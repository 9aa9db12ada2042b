import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { parseMessage } from '../parse-message.ts';

/** One line of a server's output: messages, nothing at all, or something that is no message. */
export type ReadLine =
  | { readonly kind: 'messages'; readonly messages: readonly JSONRPCMessage[] }
  | { readonly kind: 'empty' }
  | { readonly kind: 'noise'; readonly text: string };

const BYTE_ORDER_MARK = '\ufeff';

/**
 * Reads a line as it came, carriage return and byte order mark included. A batch, which servers of 2025-03-26 may send, is several messages.
 * A message is an object that says it is JSON-RPC; what else it holds is for whoever it is handed to.
 */
export function readLine(line: Buffer): ReadLine {
  let text = line.toString('utf8');
  if (text.startsWith(BYTE_ORDER_MARK)) text = text.slice(1);
  if (text.trim() === '') return { kind: 'empty' };
  try {
    const value: unknown = parseMessage(text);
    const messages = Array.isArray(value) ? value : [value];
    if (messages.length > 0 && messages.every(isMessage)) return { kind: 'messages', messages };
  } catch {
    // Not JSON: noise, like JSON that is no message.
  }
  return { kind: 'noise', text };
}

function isMessage(value: unknown): value is JSONRPCMessage {
  return typeof value === 'object' && value !== null && 'jsonrpc' in value && value.jsonrpc === '2.0';
}
