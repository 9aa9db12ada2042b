import { type Message, statelessVersion, targetName } from './message.ts';

/** What `initialize` settled: the revision, and the session's id where the server gives one. */
export interface Session {
  readonly version: string;
  readonly id: string | undefined;
}

/**
 * The headers of one POST. In the stateless era they mirror the message; in the older eras they carry what `initialize`
 * settled, which `initialize` itself does not.
 */
export function messageHeaders(
  messages: readonly Message[],
  session: Session | undefined,
): Record<string, string> {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const [message] = messages;
  const version = message && statelessVersion(message);
  if (message && version !== undefined) {
    const name = targetName(message);
    headers['mcp-protocol-version'] = headerValue(version);
    headers['mcp-method'] = headerValue(String(message.method));
    if (name !== undefined) headers['mcp-name'] = headerValue(name);
  } else if (session && message?.method !== 'initialize') {
    headers['mcp-protocol-version'] = session.version;
    if (session.id !== undefined) headers['mcp-session-id'] = session.id;
  }
  return headers;
}

/** A value as it may stand in a header: as it is, or as base64 of its UTF-8 between markers (SEP-2243). */
export function headerValue(value: string): string {
  const plain = /^[\x20-\x7e\t]+$/.test(value) && value === value.trim();
  const looksEncoded = value.startsWith('=?base64?') && value.endsWith('?=');
  return plain && !looksEncoded ? value : `=?base64?${Buffer.from(value, 'utf8').toString('base64')}?=`;
}
