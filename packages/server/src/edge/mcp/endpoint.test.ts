import { describe, expect, it } from 'vitest';
import { systemClock } from '../../kernel/clock.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { CallContext, Caller, McpDoor } from './door.ts';
import { createMcpEndpoint } from './endpoint.ts';

const principal: Principal = {
  id: 'user_1',
  roles: new Set(),
  via: 'user-key',
  credential: 'key_1',
  agents: { kind: 'own' },
};
const BOTH = { accept: 'application/json, text/event-stream' };

/** A door with one tool whose behaviour each test chooses. */
function setUp(
  run: (args: Record<string, unknown>, context: CallContext) => Promise<string> = async args =>
    String(args.text),
  admitted: () => Promise<void> = async () => {},
) {
  const warnings: string[] = [];
  const log: Logger = {
    debug: () => {},
    info: () => {},
    warn: message => warnings.push(message),
    error: () => {},
    child: () => log,
  };
  const abandoned: string[] = [];
  const prepared: string[] = [];
  const door: McpDoor<Caller> = {
    resource: () => 'test',
    capabilities: { tools: {} },
    serverInfo: () => ({ name: 'test', version: '1' }),
    instructions: () => undefined,
    tools: () => [{ name: 'echo', inputSchema: { type: 'object' } }],
    async prepareCall(_caller, tool, args) {
      if (tool !== 'echo') throw new PlatformError('invalid', 'name: there is one tool, echo');
      if (args.refuse === true) throw new PlatformError('conflict', 'refused before the first byte');
      await admitted();
      prepared.push(String(args.text));
      return {
        streams: true,
        run: async context => ({ content: [{ type: 'text', text: await run(args, context) }] }),
        abandon: async () => {
          abandoned.push(String(args.text));
        },
      };
    },
  };
  const endpoint = createMcpEndpoint(door, {
    sessions: { clock: systemClock, secret: new Uint8Array(32).fill(7), days: 1 },
    maxBodyBytes: 10_000,
    keepAliveMs: 15,
  });
  const serve = (
    body: unknown,
    headers: Record<string, string> = {},
    credential = 'key_1',
    signal?: AbortSignal,
  ) =>
    endpoint.serve(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
        ...(signal && { signal }),
      }),
      { principal: { ...principal, credential }, log, traceId: 'trace', open },
    );
  return { serve, warnings, abandoned, prepared, endpoint, log };
}

const call = (id: string | number, args: Record<string, unknown>, meta?: Record<string, unknown>) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'echo', arguments: args, ...(meta && { _meta: meta }) },
});

const initialize = (protocolVersion: string) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion, capabilities: {}, clientInfo: { name: 'x', version: '1' } },
});

const MODERN_META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
};
const modernHeaders = (method: string, name?: string) => ({
  ...BOTH,
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': method,
  ...(name && { 'mcp-name': name }),
});

/** Of a caller whose credential stays as it is. */
const open: Caller['open'] = { run: (signal, run) => run(signal) };

/** The JSON-RPC messages of an event stream. */
async function events(response: Response): Promise<Record<string, unknown>[]> {
  const text = await response.text();
  return text.split('\n').flatMap(line => (line.startsWith('data: ') ? [JSON.parse(line.slice(6))] : []));
}

describe('older eras', () => {
  it('answers a bare tools/list as plain JSON: no handshake, no session, no Accept (B-41, B-42)', async () => {
    const { serve } = setUp();
    const response = await serve({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain('application/json');
    expect(await response.json()).toMatchObject({ id: 1, result: { tools: [{ name: 'echo' }] } });
  });

  it('answers a call as one JSON where the caller takes no stream', async () => {
    const { serve } = setUp();
    const response = await serve(call('a', { text: 'hi' }), { accept: '*/*' });
    expect(response.headers.get('content-type')).toContain('application/json');
    expect(await response.json()).toEqual({
      jsonrpc: '2.0',
      id: 'a',
      result: { content: [{ type: 'text', text: 'hi' }] },
    });
  });

  it('streams a call: first byte at once, progress in order, exactly one result (B-58, B-63)', async () => {
    const { serve } = setUp(async (_args, { progress }) => {
      progress('one');
      progress('two');
      return 'done';
    });
    const response = await serve(call(7, {}), BOTH);
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    expect(response.headers.get('x-accel-buffering')).toBe('no');
    const messages = await events(response);
    expect(messages.map(message => message.method ?? 'result')).toEqual([
      'notifications/progress',
      'notifications/progress',
      'result',
    ]);
    // Without a token of the client's, the request id is the token.
    expect(messages[0]!.params).toEqual({ progressToken: 7, progress: 1, message: 'one' });
    expect(messages[2]).toMatchObject({ id: 7, result: { content: [{ text: 'done' }] } });
  });

  it('sends progress with the token of the client', async () => {
    const { serve } = setUp(async (_args, { progress }) => {
      progress('one');
      return 'done';
    });
    const [first] = await events(await serve(call(7, {}, { progressToken: 'mine' }), BOTH));
    expect(first!.params).toMatchObject({ progressToken: 'mine' });
  });

  it('keeps ids apart by type and answers equal ids in flight each with its own result', async () => {
    const { serve } = setUp(async args => {
      await new Promise(resolve => setTimeout(resolve, Number(args.ms)));
      return String(args.text);
    });
    const answers = await Promise.all([
      serve(call(1, { text: 'slow', ms: 60 })),
      serve(call(1, { text: 'fast', ms: 5 })),
      serve(call('1', { text: 'text id', ms: 20 })),
    ]).then(responses => Promise.all(responses.map(response => response.json())));
    expect(answers).toMatchObject([
      { id: 1, result: { content: [{ text: 'slow' }] } },
      { id: 1, result: { content: [{ text: 'fast' }] } },
      { id: '1', result: { content: [{ text: 'text id' }] } },
    ]);
  });

  it('logs an unknown protocol version and serves the call all the same (E-03)', async () => {
    const { serve, warnings } = setUp();
    const response = await serve(call(1, { text: 'hi' }), { 'mcp-protocol-version': '2031-01-01' });
    expect(response.status).toBe(200);
    expect(warnings).toEqual(['Invalid MCP protocol header: 2031-01-01']);
  });

  it.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])('negotiates %s (B-48)', async version => {
    const { serve } = setUp();
    const response = await serve(initialize(version));
    expect(await response.json()).toMatchObject({ result: { protocolVersion: version } });
    expect(response.headers.get('mcp-session-id')).toMatch(/^[\x21-\x7e]+$/);
  });

  it('refuses before the first byte with the documented status, also where a stream was accepted', async () => {
    const { serve } = setUp();
    const response = await serve(call(3, { refuse: true }), BOTH);
    expect(response.status).toBe(409);
    expect(await response.json()).toEqual({
      jsonrpc: '2.0',
      id: 3,
      error: { code: 409, message: 'refused before the first byte', data: { code: 'conflict' } },
    });
  });

  it('keeps the status of a late failure in a JSON answer, and ends a stream with the error (B-64)', async () => {
    const { serve } = setUp(async () => {
      throw new PlatformError('timeout', 'took too long');
    });
    const json = await serve(call(1, {}));
    expect(json.status).toBe(504);
    expect(await json.json()).toMatchObject({ error: { code: 504, data: { code: 'service_timeout' } } });
    const messages = await events(await serve(call(2, {}), BOTH));
    expect(messages).toMatchObject([{ id: 2, error: { code: 504, data: { code: 'service_timeout' } } }]);
  });

  it('tells nothing of what broke inside', async () => {
    const { serve } = setUp(async () => {
      throw new Error('password=hunter2 at /srv/secret.ts');
    });
    const text = await (await serve(call(1, {}))).text();
    expect(JSON.parse(text)).toMatchObject({
      error: { code: -32603, data: { code: 'internal_error', details: { traceId: 'trace' } } },
    });
    expect(text).not.toMatch(/hunter2|secret\.ts/);
  });

  it('cancels by notification, within the session and by the id of that type only', async () => {
    const ended: string[] = [];
    const { serve } = setUp(async (args, { signal }) => {
      await new Promise((resolve, reject) => {
        const timer = setTimeout(resolve, 2000);
        signal.addEventListener('abort', () => {
          clearTimeout(timer);
          reject(new PlatformError('cancelled', 'cancelled'));
        });
      }).catch(error => {
        ended.push(String(args.text));
        throw error;
      });
      return 'finished';
    });
    const session = (await serve(initialize('2025-06-18'))).headers.get('mcp-session-id')!;
    const withSession = { 'mcp-session-id': session };
    const running = serve(call(5, { text: 'five' }), withSession);
    await new Promise(resolve => setTimeout(resolve, 20));
    const cancel = (requestId: unknown) => ({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId },
    });
    expect((await serve(cancel('5'), withSession)).status).toBe(202);
    const otherSession = (await serve(initialize('2025-06-18'))).headers.get('mcp-session-id')!;
    for (const elsewhere of [undefined, { 'mcp-session-id': otherSession }]) {
      expect((await serve(cancel(5), elsewhere)).status).toBe(202);
    }
    expect(ended).toEqual([]);
    await serve(cancel(5), withSession);
    expect(await (await running).json()).toMatchObject({ id: 5, error: { data: { code: 'cancelled' } } });
    expect(ended).toEqual(['five']);
  });

  it('cancels a call that is not admitted yet', async () => {
    let admit: () => void;
    const waiting = new Promise<void>(resolve => {
      admit = resolve;
    });
    const { serve } = setUp(
      async (_args, { signal }) => {
        if (signal.aborted) throw new PlatformError('cancelled', 'cancelled');
        return 'ran';
      },
      () => waiting,
    );
    const session = {
      'mcp-session-id': (await serve(initialize('2025-06-18'))).headers.get('mcp-session-id')!,
    };
    const running = serve(call(5, { text: 'x' }), session);
    await new Promise(resolve => setTimeout(resolve, 10));
    await serve({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 5 } }, session);
    admit!();
    expect(await (await running).json()).toMatchObject({ id: 5, error: { data: { code: 'cancelled' } } });
  });

  it('goes on when the connection breaks: in the older eras that is no cancellation', async () => {
    let finished: () => void;
    const done = new Promise<void>(resolve => {
      finished = resolve;
    });
    const { serve } = setUp(async (_args, { signal }) => {
      await new Promise(resolve => setTimeout(resolve, 30));
      if (!signal.aborted) finished();
      return 'late';
    });
    const response = await serve(call(1, {}), BOTH);
    await response.body!.cancel();
    await done;
  });
});

describe('sessions of the older eras', () => {
  it.each([
    ['of another credential', (id: string) => id, 'key_2'],
    ['with a changed claim', (id: string) => `A${id.slice(1)}`, 'key_1'],
    ['that never was', () => 'abc', 'key_1'],
  ])('answers an id %s with 404 and -32001', async (_name, change, credential) => {
    const { serve } = setUp();
    const id = (await serve(initialize('2025-06-18'))).headers.get('mcp-session-id')!;
    const response = await serve(call(9, { text: 'x' }), { 'mcp-session-id': change(id) }, credential);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ id: 9, error: { code: -32001 } });
  });

  it.each([
    ['no params', { jsonrpc: '2.0', id: 1, method: 'initialize' }],
    ['empty params', { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} }],
  ])('opens none for an initialize with %s', async (_name, body) => {
    const { serve } = setUp();
    const response = await serve(body);
    expect(response.status).toBe(400);
    expect(response.headers.has('mcp-session-id')).toBe(false);
    expect(await response.json()).toMatchObject({ id: 1, error: { code: -32602 } });
  });

  it('serves its own id', async () => {
    const { serve } = setUp();
    const id = (await serve(initialize('2025-06-18'))).headers.get('mcp-session-id')!;
    expect((await serve(call(9, { text: 'x' }), { 'mcp-session-id': id })).status).toBe(200);
  });

  it('initializes again as often as a client likes (B-49)', async () => {
    const { serve } = setUp();
    const first = await serve(initialize('2025-06-18'));
    const again = await serve(initialize('2025-06-18'), {
      'mcp-session-id': first.headers.get('mcp-session-id')!,
    });
    expect(again.status).toBe(200);
    expect(again.headers.get('mcp-session-id')).not.toBe(first.headers.get('mcp-session-id'));
  });
});

describe('batches', () => {
  it('serves them in 2025-03-26, also with equal ids', async () => {
    const { serve } = setUp();
    const response = await serve(
      [
        call(1, { text: 'a' }),
        call(1, { text: 'b' }),
        { jsonrpc: '2.0', method: 'notifications/initialized' },
      ],
      { 'mcp-protocol-version': '2025-03-26' },
    );
    expect(await response.json()).toMatchObject([
      { id: 1, result: { content: [{ text: 'a' }] } },
      { id: 1, result: { content: [{ text: 'b' }] } },
    ]);
  });

  it('answers a refused entry beside the others', async () => {
    const { serve } = setUp();
    const response = await serve([call(1, { refuse: true }), call(2, { text: 'b' })]);
    expect(await response.json()).toMatchObject([
      { id: 1, error: { code: 409 } },
      { id: 2, result: {} },
    ]);
  });

  it.each([
    ['in a later revision', [call(1, {})], { 'mcp-protocol-version': '2025-06-18' }],
    ['that are empty', [], {}],
    ['of more than 50', Array.from({ length: 51 }, (_, i) => call(i, {})), {}],
  ])('refuses those %s', async (_name, body, headers) => {
    const { serve } = setUp();
    const response = await serve(body, headers as Record<string, string>);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: -32600 } });
  });
});

describe('stateless era', () => {
  it('serves a call with its result type', async () => {
    const { serve } = setUp();
    const response = await serve(call(1, { text: 'hi' }, MODERN_META), modernHeaders('tools/call', 'echo'));
    const [message] = await events(response);
    expect(message).toMatchObject({ id: 1, result: { resultType: 'complete', content: [{ text: 'hi' }] } });
  });

  it('sends progress for a token and none without one', async () => {
    const { serve } = setUp(async (_args, { progress }) => {
      progress('one');
      return 'done';
    });
    const without = await events(await serve(call(1, {}, MODERN_META), modernHeaders('tools/call', 'echo')));
    expect(without).toHaveLength(1);
    const withToken = await events(
      await serve(call(1, {}, { ...MODERN_META, progressToken: 9 }), modernHeaders('tools/call', 'echo')),
    );
    expect(withToken[0]).toMatchObject({ params: { progressToken: 9, progress: 1, message: 'one' } });
  });

  it.each([
    ['Mcp-Method is missing', modernHeaders('tools/call', 'echo'), 'mcp-method'],
    ['Mcp-Name is missing', modernHeaders('tools/call', 'echo'), 'mcp-name'],
    ['the version header is missing', modernHeaders('tools/call', 'echo'), 'mcp-protocol-version'],
  ])('prepares nothing when %s', async (_name, headers, without) => {
    const { serve, abandoned } = setUp();
    const { [without]: _, ...rest } = headers as Record<string, string>;
    const response = await serve(call(1, { text: 'x' }, MODERN_META), rest);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: -32020 } });
    expect(abandoned).toEqual([]);
  });

  it.each([
    ['Mcp-Method', { 'mcp-method': 'tools/list' }],
    ['Mcp-Name', { 'mcp-name': 'another' }],
  ])('prepares nothing when %s says another thing than the body', async (_name, lie) => {
    const { serve, prepared } = setUp();
    const headers = { ...modernHeaders('tools/call', 'echo'), ...lie } as Record<string, string>;
    const response = await serve(call(1, { refuse: true }, MODERN_META), headers);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: -32020 } });
    expect(prepared).toEqual([]);
  });

  it('reads a name that a header carries in base64', async () => {
    const { serve } = setUp();
    const headers = { ...modernHeaders('tools/call'), 'mcp-name': '=?base64?ZWNobw==?=' };
    const [message] = await events(await serve(call(1, { text: 'hi' }, MODERN_META), headers));
    expect(message).toMatchObject({ result: { content: [{ text: 'hi' }] } });
  });

  it('names the served revision to a client that asks for another', async () => {
    const { serve } = setUp();
    const meta = { ...MODERN_META, 'io.modelcontextprotocol/protocolVersion': '2027-01-01' };
    const response = await serve(call(1, {}, meta), {
      ...modernHeaders('tools/call', 'echo'),
      'mcp-protocol-version': '2027-01-01',
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: -32022, data: { supported: ['2026-07-28'] } },
    });
  });

  it('abandons a prepared call that the protocol layer refuses after all', async () => {
    const { serve, abandoned } = setUp();
    // A capability object of the wrong type is found by the SDK only.
    const meta = { ...MODERN_META, 'io.modelcontextprotocol/clientCapabilities': 'none' };
    const response = await serve(call(1, { text: 'taken back' }, meta), modernHeaders('tools/call', 'echo'));
    expect(response.status).toBe(400);
    expect(abandoned).toEqual(['taken back']);
  });

  it('cancels when the client closes its stream', async () => {
    let cancelled: () => void;
    const seen = new Promise<void>(resolve => {
      cancelled = resolve;
    });
    const { serve } = setUp(async (_args, { signal }) => {
      await new Promise(resolve => signal.addEventListener('abort', resolve));
      cancelled();
      return 'never read';
    });
    const response = await serve(call(1, {}, MODERN_META), modernHeaders('tools/call', 'echo'));
    await response.body!.cancel();
    await seen;
  });
});

describe.each([
  ['the older eras', call(1, {}), BOTH],
  ['the stateless era', call(1, {}, MODERN_META), modernHeaders('tools/call', 'echo')],
])('a stream in %s', (_era, body, headers) => {
  it('starts at once and gets comments while the agent is silent', async () => {
    let answer: (text: string) => void;
    const { serve } = setUp(
      () =>
        new Promise(resolve => {
          answer = resolve;
        }),
    );
    const response = await serve(body, headers);
    const reader = response.body!.getReader();
    const read = async () => new TextDecoder().decode((await reader.read()).value);
    expect(await read()).toBe(': open\n\n');
    expect(await read()).toMatch(/^: keepalive/);
    answer!('at last');
    let text = '';
    while (!text.includes('at last')) text += await read();
  });
});

describe('a call the SDK refuses although its form looked right', () => {
  it.each([
    ['older eras, one JSON', {}, {}, { task: { ttl: 'x' } }],
    ['older eras, a stream', {}, BOTH, { task: { ttl: 'x' } }],
    ['older eras, a wrong token', {}, BOTH, { _meta: { progressToken: {} } }],
    ['older eras, no arguments', {}, BOTH, { arguments: null }],
    ['stateless era, a wrong state', MODERN_META, modernHeaders('tools/call', 'echo'), { requestState: 5 }],
    [
      'stateless era, a wrong answer',
      MODERN_META,
      modernHeaders('tools/call', 'echo'),
      { inputResponses: 5 },
    ],
  ])('leaves nothing prepared behind: %s', async (_name, meta, headers, params) => {
    let running = 0;
    const { serve, prepared, abandoned } = setUp(async () => {
      running += 1;
      return 'ran';
    });
    const message = call(1, { text: 'x' }, meta as Record<string, unknown>);
    await (await serve({ ...message, params: { ...message.params, ...params } }, headers)).text();
    expect(prepared.length).toBe(abandoned.length + running);
  });
});

describe('bodies and methods no era takes', () => {
  it.each(['GET', 'DELETE', 'PUT'])(
    'answers %s with 405 and Allow: POST: nothing is sent outside of a call (B-72)',
    async method => {
      const { endpoint, log } = setUp();
      const response = await endpoint.serve(new Request('http://localhost/mcp', { method }), {
        principal,
        log,
        traceId: 'trace',
        open,
      });
      expect(response.status).toBe(405);
      expect(response.headers.get('allow')).toBe('POST');
    },
  );

  it.each([
    ['broken JSON', '{', 400, -32700],
    ['a duplicate key', '{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list"}', 400, -32700],
    ['no message', '5', 400, -32600],
    ['more than the limit', `"${'x'.repeat(20_000)}"`, 413, -32600],
    ['a huge id', JSON.stringify({ ...call(1, {}), id: 'x'.repeat(300) }), 400, -32600],
    ['a huge progress token', JSON.stringify(call(1, {}, { progressToken: 'x'.repeat(300) })), 400, -32600],
    ['a huge id in a batch', JSON.stringify([{ ...call(1, {}), id: 'x'.repeat(300) }]), 400, -32600],
    [
      'half a character',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\\ud800"}}',
      400,
      -32700,
    ],
  ])('refuses %s', async (_name, body, status, code) => {
    const { serve } = setUp();
    const response = await serve(body);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { code } });
  });

  it('refuses another media type with 415', async () => {
    const { serve } = setUp();
    expect((await serve('{}', { 'content-type': 'text/plain' })).status).toBe(415);
  });
});
