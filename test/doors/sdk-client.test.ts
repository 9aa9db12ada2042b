import {
  Client,
  StreamableHTTPClientTransport,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import { createClient } from '@patchbay/contract/client';
import type { TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { platforms } from './platforms.ts';

const LEGACY = '2025-11-25';
const MODERN = '2026-07-28';

/** The demo agent answers this in several bubbles with typing time between them. */
const SLOW = 'show progress';

interface DoorCase {
  readonly door: string;
  readonly url: (platform: TestPlatform) => string;
  readonly key: (platform: TestPlatform) => string;
  readonly tools: (names: readonly string[]) => void;
  readonly talk: (
    message: string,
    conversation?: string,
  ) => { name: string; arguments: Record<string, unknown> };
}

const DOORS: readonly DoorCase[] = [
  {
    door: 'operator',
    url: platform => platform.operatorUrl,
    key: platform => platform.operatorKey,
    tools: names => expect(names).toEqual(expect.arrayContaining(['list_docs', 'chat_with_agent'])),
    talk: (message, conversationId) => ({
      name: 'chat_with_agent',
      arguments: { agentId: 'demo', message, ...(conversationId && { conversationId }) },
    }),
  },
  {
    door: 'agent',
    url: platform => platform.agentUrl('demo'),
    key: platform => platform.agentKey,
    tools: names => expect(names).toEqual(['demo']),
    talk: (message, conversationId) => ({
      name: 'demo',
      arguments: { message, ...(conversationId && { context_id: conversationId }) },
    }),
  },
];

describe.each(platforms)('the doors of $kind', ({ start }) => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await start();
  });
  afterAll(() => platform?.close());

  // The agent's typing time is most of these tests, so they wait side by side.
  describe.concurrent.each(DOORS)('the SDK client at the $door door', ({ url, key, tools, talk }) => {
    const modes: { mode: string; negotiation: VersionNegotiationMode; era: string; version: string }[] = [
      { mode: 'legacy', negotiation: 'legacy', era: 'legacy', version: LEGACY },
      { mode: 'auto', negotiation: 'auto', era: 'modern', version: MODERN },
      { mode: 'modern', negotiation: { pin: MODERN }, era: 'modern', version: MODERN },
    ];

    describe.each(modes)('opening $mode', ({ negotiation, era, version }) => {
      let client: Client;
      beforeAll(async () => {
        client = new Client(
          { name: 'test', version: '1.0.0' },
          { versionNegotiation: { mode: negotiation } },
        );
        const headers = { Authorization: `Bearer ${key(platform)}` };
        const transport = new StreamableHTTPClientTransport(new URL(url(platform)), {
          requestInit: { headers },
        });
        await client.connect(transport);
      });
      afterAll(() => client?.close());

      it('agrees on the era and the version', () => {
        expect(client.getProtocolEra()).toBe(era);
        expect(client.getNegotiatedProtocolVersion()).toBe(version);
      });

      it('lists the tools', async () => {
        const { tools: listed } = await client.listTools();
        tools(listed.map(tool => tool.name));
      });

      it('calls a tool and gets its text', async () => {
        const result = await client.callTool(talk('How do I connect a client?'));
        expect(result.isError).toBeFalsy();
        expect(textOf(result)).toMatch(/connect/i);
      });

      it('sees progress in order, strictly increasing, before the answer', async () => {
        const seen: { progress: number; message?: string | undefined }[] = [];
        const result = await client.callTool(talk(SLOW), { onprogress: event => seen.push(event) });
        const count = seen.length;
        expect(count).toBeGreaterThan(1);
        const steps = seen.map(event => event.progress);
        expect(steps).toEqual([...new Set(steps)].sort((a, b) => a - b));
        const text = textOf(result);
        const places = seen.map(event => text.indexOf(event.message ?? 'no message'));
        expect(places).not.toContain(-1);
        expect(places).toEqual([...places].sort((a, b) => a - b));
      });

      it('aborts a call: the turn ends on the server, and nothing of it stays', async () => {
        const opening = await client.callTool(talk('hello'));
        const { context_id, conversationId } = opening.structuredContent as Record<string, string>;
        const conversation = (context_id ?? conversationId)!;
        const abort = new AbortController();
        const call = client.callTool(talk(SLOW, conversation), {
          signal: abort.signal,
          onprogress: () => abort.abort(new Error('changed my mind')),
        });
        await expect(call).rejects.toThrow('changed my mind');
        // Busy until the aborted turn has let go of the conversation.
        await vi.waitFor(() => expectAnswer(client, talk('hello again', conversation)), {
          timeout: 10_000,
        });
        const rest = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
        const { log } = await rest.call('read_conversation_log', { conversationId: conversation });
        expect(log).toContain('User: hello again');
        expect(log).not.toContain(`User: ${SLOW}`);
      });
    });
  });

  describe.concurrent.each(DOORS)('JSON-RPC ids at the $door door', ({ url, key, tools, talk }) => {
    describe.each([
      { era: 'legacy', session: () => legacySession(url(platform), key(platform)) },
      { era: 'modern', session: () => modernSession(url(platform), key(platform)) },
    ])('in the $era era', ({ session }) => {
      it('answers two calls in flight with equal ids, each on its own stream', async () => {
        const send = await session();
        const slow = await send(7, 'tools/call', withProgress(talk(SLOW), 'slow'));
        const first = await slow.next();
        expect(first).toMatchObject({ method: 'notifications/progress', params: { progressToken: 'slow' } });
        // The slow call is in the middle of its answer now.
        const quick = await readAll(await send(7, 'tools/call', talk('How do I create a key?')));
        const rest = await readAll(slow);
        const [slowText, quickText] = [rest, quick].map(messages => textOf(messages.at(-1)?.result));
        expect([rest.at(-1)?.id, quick.at(-1)?.id]).toEqual([7, 7]);
        expect(rest.slice(0, -1).every(message => message.params?.progressToken === 'slow')).toBe(true);
        expect(rest.length).toBeGreaterThan(1);
        expect(quickText).toMatch(/key/i);
        expect(slowText).not.toBe(quickText);
      });

      it('keeps 1 and "1" apart, also while both are in flight', async () => {
        const send = await session();
        const streams = await Promise.all([
          send(1, 'tools/call', talk('How do I connect a client?')),
          send('1', 'tools/call', talk('How do I create a key?')),
        ]);
        const [number, text] = (await Promise.all(streams.map(readAll))).map(messages => messages.at(-1));
        expect([number?.id, text?.id]).toEqual([1, '1']);
        expect(textOf(number?.result)).toMatch(/connect/i);
        expect(textOf(text?.result)).toMatch(/key/i);
      });

      it('serves a client that uses id 1 for everything', async () => {
        const send = await session();
        const list = await readAll(await send(1, 'tools/list', {}));
        tools(list.at(-1)?.result.tools.map((tool: { name: string }) => tool.name));
        for (const message of ['How do I connect a client?', 'How do I create a key?']) {
          const call = await readAll(await send(1, 'tools/call', talk(message)));
          const answers = call.filter(answer => 'id' in answer);
          expect(answers.map(answer => answer.id)).toEqual([1]);
          expect(textOf(answers[0]?.result)).toMatch(message.includes('key') ? /key/i : /connect/i);
        }
      });
    });
  });
});

/** Rejects while the conversation is busy, which the operator door says in a result and the agent door in an error. */
async function expectAnswer(client: Client, call: ReturnType<DoorCase['talk']>): Promise<void> {
  const answer = await client.callTool(call);
  expect(answer.structuredContent).not.toHaveProperty('status');
}

interface Rpc {
  readonly id?: unknown;
  readonly method?: string;
  // biome-ignore lint/suspicious/noExplicitAny: raw answers, looked into member by member
  readonly params?: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly result?: any;
}

/** Sends one request and gives the messages of its answer as they come, from JSON or from an event stream. */
type Send = (id: unknown, method: string, params: object) => Promise<MessageStream>;
interface MessageStream {
  /** The next message, `undefined` when the answer has ended. */
  next(): Promise<Rpc | undefined>;
}

/** A session of the older eras, opened with the id that every later request uses too. */
async function legacySession(url: string, key: string): Promise<Send> {
  const post = (headers: Record<string, string>, body: object) => postTo(url, key, headers, body);
  const params = { protocolVersion: LEGACY, capabilities: {}, clientInfo: { name: 'raw', version: '1.0.0' } };
  const opened = await post({}, { jsonrpc: '2.0', id: 1, method: 'initialize', params });
  const answer = await readAll(messagesOf(opened));
  expect(answer.at(-1)).toMatchObject({ id: 1, result: { protocolVersion: LEGACY } });
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id')!, 'mcp-protocol-version': LEGACY };
  const ready = await post(session, { jsonrpc: '2.0', method: 'notifications/initialized' });
  expect(ready.status).toBe(202);
  return async (id, method, params) =>
    messagesOf(await post(session, { jsonrpc: '2.0', id, method, params }));
}

async function modernSession(url: string, key: string): Promise<Send> {
  return async (id, method, params) => {
    const own = params as { name?: string; _meta?: object };
    const _meta = {
      ...own._meta,
      'io.modelcontextprotocol/protocolVersion': MODERN,
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const headers = {
      'mcp-protocol-version': MODERN,
      'mcp-method': method,
      ...(own.name !== undefined && { 'mcp-name': own.name }),
    };
    return messagesOf(
      await postTo(url, key, headers, { jsonrpc: '2.0', id, method, params: { ...params, _meta } }),
    );
  };
}

function postTo(url: string, key: string, headers: Record<string, string>, body: object): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify(body),
  });
}

function messagesOf(response: Response): MessageStream {
  const messages = parseMessages(response);
  return { next: async () => (await messages.next()).value ?? undefined };
}

async function* parseMessages(response: Response): AsyncGenerator<Rpc, undefined> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    yield (await response.json()) as Rpc;
    return;
  }
  let pending = '';
  for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
    pending += text;
    const events = pending.split('\n\n');
    pending = events.pop()!;
    for (const event of events) {
      const data = event.split('\n').filter(line => line.startsWith('data:'));
      if (data.length > 0) yield JSON.parse(data.map(line => line.slice(5)).join('\n')) as Rpc;
    }
  }
}

async function readAll(stream: MessageStream): Promise<Rpc[]> {
  const messages: Rpc[] = [];
  for (let message = await stream.next(); message; message = await stream.next()) messages.push(message);
  return messages;
}

function withProgress(params: object, progressToken: string): object {
  return { ...params, _meta: { progressToken } };
}

/** The reply in a tool's answer. */
function textOf(result: unknown): string {
  const { content } = result as { content: { text: string }[] };
  return content.map(item => item.text).join('\n');
}
