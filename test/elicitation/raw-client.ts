import { expect } from 'vitest';
import { post, type WireAnswer } from '../doors/wire.ts';
import { ASKER } from './asking-agent.ts';

/** A message as it came. */
export interface Message {
  readonly id?: unknown;
  readonly method?: string;
  // biome-ignore lint/suspicious/noExplicitAny: an answer may be anything, tests look into it
  readonly params?: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly result?: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly error?: any;
}

export interface CallStream {
  readonly status: number;
  /** The next message; `undefined` when the stream has ended. */
  next(): Promise<Message | undefined>;
  rest(): Promise<Message[]>;
  /** The client goes away. */
  leave(): Promise<void>;
}

const FORMS = { elicitation: {} };
const BOTH = 'application/json, text/event-stream';

/** A client of the older eras whose every byte the test chooses. */
export interface RawSession {
  readonly headers: Readonly<Record<string, string>>;
  call(
    args: Record<string, unknown>,
    options?: { readonly id?: unknown; readonly url?: string; readonly params?: Record<string, unknown> },
  ): Promise<CallStream>;
  /** Sends a message of any kind, by default to where the session was opened. */
  send(message: object, url?: string): Promise<WireAnswer>;
  answer(id: unknown, result: unknown, url?: string): Promise<WireAnswer>;
}

export async function openSession(
  url: string,
  key: string,
  { version = '2025-11-25', capabilities = FORMS as object } = {},
): Promise<RawSession> {
  const opened = await post(
    url,
    {
      jsonrpc: '2.0',
      id: 0,
      method: 'initialize',
      params: { protocolVersion: version, capabilities, clientInfo: { name: 'raw', version: '1' } },
    },
    { key },
  );
  expect(opened.body.result.protocolVersion).toBe(version);
  const headers = {
    'mcp-session-id': opened.headers.get('mcp-session-id')!,
    'mcp-protocol-version': version,
  };
  const send: RawSession['send'] = (message, to = url) => post(to, message, { key, headers });
  return {
    headers,
    send,
    answer: (id, result, to) => send({ jsonrpc: '2.0', id, result }, to),
    async call(args, { id = 1, url: to = url, params = {} } = {}) {
      const message = {
        jsonrpc: '2.0',
        id,
        method: 'tools/call',
        params: { name: ASKER, arguments: args, ...params },
      };
      const response = await fetch(to, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          accept: BOTH,
          ...headers,
        },
        body: JSON.stringify(message),
      });
      return streamOf(response);
    },
  };
}

export const APPROVE = { action: 'accept', content: { decision: 'approve' } };
export const REJECT = { action: 'accept', content: { decision: 'reject' } };

/** One call of the stateless era, and its last message. */
export async function statelessCall(
  url: string,
  key: string,
  params: Record<string, unknown>,
  { capabilities = FORMS as object, name = ASKER, headers = {} as Readonly<Record<string, string>> } = {},
): Promise<WireAnswer & { readonly last: Message }> {
  const version = '2026-07-28';
  const answer = await post(
    url,
    {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name,
        ...params,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': version,
          'io.modelcontextprotocol/clientCapabilities': capabilities,
        },
      },
    },
    {
      key,
      stream: true,
      headers: { 'mcp-protocol-version': version, 'mcp-method': 'tools/call', 'mcp-name': name, ...headers },
    },
  );
  return { ...answer, last: [answer.body].flat().at(-1) };
}

async function streamOf(response: Response): Promise<CallStream> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  let isOver = false;
  async function next(): Promise<Message | undefined> {
    for (;;) {
      const end = text.indexOf('\n\n');
      if (end >= 0) {
        const event = text.slice(0, end);
        text = text.slice(end + 2);
        const data = event.split('\n').find(line => line.startsWith('data: '));
        if (data) return JSON.parse(data.slice('data: '.length));
        continue;
      }
      if (isOver) return undefined;
      const { done, value } = await reader.read();
      if (done) isOver = true;
      text += value ?? '';
    }
  }
  return {
    status: response.status,
    next,
    async rest() {
      const messages: Message[] = [];
      for (let message = await next(); message; message = await next()) messages.push(message);
      return messages;
    },
    leave: () => reader.cancel(),
  };
}
