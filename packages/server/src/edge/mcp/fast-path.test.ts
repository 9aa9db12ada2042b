import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { signSessionId } from '../../auth/session/session-id.ts';
import { systemClock } from '../../kernel/clock.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Caller, McpDoor, Question } from './door.ts';
import { createMcpEndpoint } from './endpoint.ts';
import { createFastPath, type FastPath } from './fast-path.ts';
import { inputRequired } from './forms.ts';

const log: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, child: () => log };
const caller: Caller = {
  principal: { id: 'u', roles: new Set(), via: 'user-key', credential: 'k', agents: { kind: 'own' } },
  log,
  traceId: 'trace',
  open: { run: (signal, call) => call(signal) },
};

const question: Question = {
  id: 'pause_1',
  message: 'May "it"?',
  requestedSchema: { type: 'object', properties: { decision: { type: 'string', enum: ['yes'] } } },
};

/** A door where every kind of answer can be provoked by arguments, and nothing depends on time. */
const door: McpDoor<Caller> = {
  resource: () => 'test',
  capabilities: { tools: {}, resources: {} },
  serverInfo: () => ({ name: 'test', title: 'Test "door"', version: '1' }),
  instructions: () => 'Ask.',
  tools: () => [
    {
      name: 'echo',
      title: 'Écho',
      inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
    },
  ],
  async prepareCall(_caller, tool, args) {
    if (tool !== 'echo') throw new PlatformError('invalid', `no tool ${tool}`);
    if (args.refuse === true) throw new PlatformError('conflict', 'refused', { details: { why: 'asked' } });
    return {
      streams: args.streams === true,
      run: async ({ progress, asking }) => {
        const way = args.ask === true ? asking() : undefined;
        if (way?.by === 'result') return inputRequired(question, 'state');
        way?.send(question);
        if (way) progress();
        way?.withdraw(question.id);
        for (const text of ['one', 'two']) progress(text);
        if (args.fail === true) throw new PlatformError('timeout', 'late');
        if (args.broken === true) throw new Error('secret');
        if (args.toolError === true) return { isError: true, content: [{ type: 'text', text: 'no' }] };
        return {
          content: [{ type: 'text', text: `${args.text} \u2028 "quoted"` }],
          structuredContent: { args },
        };
      },
      abandon: async () => {},
    };
  },
  resources: {
    forbiddenCode: -32005,
    list: async () => ({ resources: [{ uri: 'test://a', name: 'a', mimeType: 'text/plain' }] }),
    templates: async () => ({ resourceTemplates: [{ uriTemplate: 'test://{x}', name: 'x' }] }),
    async read(_caller, uri) {
      if (uri === 'test://forbidden') throw new PlatformError('forbidden', 'not you');
      if (uri === 'test://broken') throw new Error('secret');
      return uri === 'test://a' ? { uri, mimeType: 'text/plain', text: 'A' } : undefined;
    },
  },
};

const NO_FAST_PATH: FastPath<Caller> = { serve: () => undefined, learn: () => {} };
const sessions = { clock: systemClock, secret: new Uint8Array(32), days: 1 };
const sdk = createMcpEndpoint(door, { sessions, maxBodyBytes: 100_000, fastPath: NO_FAST_PATH });
const real = createFastPath(door, 15_000);
let taken = 0;
const fast = createMcpEndpoint(door, {
  sessions,
  maxBodyBytes: 100_000,
  fastPath: {
    serve(delivery) {
      const response = real.serve(delivery);
      if (response) taken += 1;
      return response;
    },
    learn: real.learn,
  },
});

interface Sent {
  readonly body: unknown;
  readonly headers: Record<string, string>;
}

async function ask(endpoint: typeof sdk, { body, headers }: Sent) {
  const request = new Request('http://localhost/mcp', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const response = await endpoint.serve(request, caller);
  const names = ['content-type', 'cache-control', 'x-accel-buffering', 'allow'];
  const text = await response.text();
  return {
    status: response.status,
    headers: Object.fromEntries(names.map(name => [name, response.headers.get(name)])),
    // Neither comments nor the order of members are part of an answer.
    messages: text.startsWith('{') || text === '' ? text && JSON.parse(text) : eventsOf(text),
  };
}

function eventsOf(text: string): unknown[] {
  const events = text.split('\n\n').filter(event => event !== '' && !event.startsWith(':'));
  return events.map(event => {
    const [kind, data, ...rest] = event.split('\n');
    return [kind, JSON.parse(data!.slice('data: '.length)), ...rest];
  });
}

const STATELESS = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
};

const FORMS = {
  ...STATELESS,
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
};
const session = signSessionId(
  {
    ...{ resource: 'test', version: '2025-06-18', credential: 'k', nonce: 'n', forms: true, urls: false },
    expires: systemClock.now() + 86_400_000,
  },
  sessions.secret,
);

const oneOf = <T>(...values: T[]) => fc.constantFrom(...values);
/** What clients send, and now and then something odd: a message with one oddity is worth more than one full of them. */
const mostly = <T>(usual: readonly T[], odd: readonly T[]) =>
  fc.oneof(
    { weight: 14, arbitrary: fc.constantFrom(...usual) },
    { weight: 1, arbitrary: fc.constantFrom(...odd) },
  );

const argumentsOf = fc.record(
  {
    text: oneOf('hi', '', 'ő\u0001"\\'),
    streams: fc.boolean(),
    ask: oneOf(true, true, false),
    refuse: oneOf(true, false, false, false),
    fail: oneOf(true, false, false, false),
    broken: oneOf(true, false, false, false),
    toolError: oneOf(true, false, false, false),
  },
  { requiredKeys: [] },
);

const requestOf = fc
  .record({
    id: mostly<unknown>([1, 0, -3, '1', 'abc'], ['', 1.5, null, undefined, true, 2 ** 53]),
    method: mostly(
      [
        'ping',
        'tools/list',
        'tools/call',
        'tools/call',
        'resources/list',
        'resources/templates/list',
        'resources/read',
      ],
      ['initialize', 'server/discover', 'prompts/list', 'nope'],
    ),
    name: mostly<unknown>(['echo'], ['other', 5, undefined]),
    args: fc.oneof(
      { weight: 12, arbitrary: argumentsOf },
      { weight: 1, arbitrary: oneOf<unknown>(undefined, null, [], 'x') },
    ),
    uri: mostly<unknown>(['test://a', 'test://forbidden', 'test://broken', 'test://none'], [5, undefined]),
    extra: mostly<Record<string, unknown>>(
      [{}],
      [
        { cursor: 'x' },
        { task: { ttl: 1 } },
        { task: 'x' },
        { requestState: 'x' },
        { inputResponses: 5 },
        { other: 1 },
      ],
    ),
    meta: mostly<unknown>(
      [undefined, {}, { progressToken: 'p' }, { progressToken: 7 }],
      [
        { progressToken: 1.5 },
        { progressToken: {} },
        { traceparent: 'x' },
        'text',
        null,
        { 'io.modelcontextprotocol/related-task': 5 },
      ],
    ),
    stateless: fc.boolean(),
    forms: fc.boolean(),
    envelope: mostly<Record<string, unknown>>(
      [{}],
      [
        { 'io.modelcontextprotocol/clientCapabilities': { roots: { listChanged: 'yes' } } },
        { 'io.modelcontextprotocol/clientCapabilities': undefined },
        { 'io.modelcontextprotocol/clientInfo': { name: 5 } },
        { 'io.modelcontextprotocol/protocolVersion': '2030-01-01' },
      ],
    ),
    accept: mostly(['application/json, text/event-stream', 'application/json'], ['*/*', undefined]),
    version: mostly(['right'], ['2026-07-28', '2025-06-18', '2025-03-26', '2030-01-01', 'none']),
    mcpMethod: mostly(['same'], ['tools/list', undefined]),
    mcpName: mostly(['same'], ['other', undefined]),
    top: mostly<Record<string, unknown>>([{}], [{ jsonrpc: '1.0' }, { extra: 1 }]),
  })
  .map((shape): Sent => {
    const isOpen = shape.meta === undefined || (typeof shape.meta === 'object' && shape.meta !== null);
    const meta =
      shape.stateless && isOpen
        ? { ...(shape.forms ? FORMS : STATELESS), ...shape.envelope, ...(shape.meta as object) }
        : shape.meta;
    const own: Record<string, unknown> =
      shape.method === 'tools/call'
        ? { name: shape.name, arguments: shape.args }
        : shape.method === 'resources/read'
          ? { uri: shape.uri }
          : {};
    const params = { ...own, ...shape.extra, ...(meta !== undefined && { _meta: meta }) };
    const named =
      shape.method === 'tools/call' ? shape.name : shape.method === 'resources/read' ? shape.uri : undefined;
    const name = shape.mcpName === 'same' ? named : shape.mcpName;
    const method = shape.mcpMethod === 'same' ? shape.method : shape.mcpMethod;
    const right = shape.stateless ? '2026-07-28' : '2025-06-18';
    const version = shape.version === 'right' ? right : shape.version;
    return {
      body: {
        jsonrpc: '2.0',
        id: shape.id,
        method: shape.method,
        ...(Object.keys(params).length > 0 && { params }),
        ...shape.top,
      },
      headers: {
        ...(shape.accept !== undefined && { accept: shape.accept }),
        ...(version !== 'none' && { 'mcp-protocol-version': version }),
        ...(shape.forms && !shape.stateless && { 'mcp-session-id': session }),
        ...(shape.stateless && method !== undefined && { 'mcp-method': method }),
        ...(shape.stateless && typeof name === 'string' && { 'mcp-name': name }),
      },
    };
  });

describe('the fast path', () => {
  beforeAll(async () => {
    // What a client sends first teaches its form.
    const headers = {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/list',
    };
    for (const meta of [STATELESS, FORMS]) {
      const body = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } };
      await ask(fast, { body, headers });
    }
  });

  it('answers every message as the SDK does', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(requestOf, async sent => {
        expect(await ask(fast, sent)).toEqual(await ask(sdk, sent));
      }),
      { numRuns: 3000 },
    );
    // Or the comparison would compare the SDK with itself.
    expect(taken).toBeGreaterThan(1000);
  });

  it('learns nothing from a notification, whose form nobody has looked at', async () => {
    const wrong = { ...STATELESS, 'io.modelcontextprotocol/clientInfo': { name: 6 } };
    const list = (id: number | undefined): Sent => ({
      body: { jsonrpc: '2.0', id, method: 'tools/list', params: { _meta: wrong } },
      headers: {
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/list',
      },
    });
    expect((await ask(fast, list(undefined))).status).toBe(202);
    expect((await ask(fast, list(1))).status).toBe(400);
  });

  it('knows the form of a stateless client from its second request on', async () => {
    const meta = { ...STATELESS, 'io.modelcontextprotocol/clientInfo': { name: 'newcomer', version: '2' } };
    const sent = {
      body: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } },
      headers: {
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/list',
      },
    };
    const before = taken;
    await ask(fast, sent);
    expect(taken).toBe(before);
    await ask(fast, sent);
    expect(taken).toBe(before + 1);
  });
});
