import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../testing/eventually.ts';
import { type FakePlatform, startFakePlatform } from '../testing/fake-platform.ts';
import { createTestIo, type TestIo } from '../testing/test-io.ts';

type Json = Record<string, unknown>;

interface Posted {
  readonly path: string;
  readonly message: Json;
  readonly headers: IncomingMessage['headers'];
  /** The client has left before the answer was complete. */
  left: boolean;
}

let platform: FakePlatform;
let io: TestIo;
let posted: Posted[];

beforeEach(async () => {
  platform = await startFakePlatform();
  io = createTestIo({ home: platform.home });
  posted = [];
});
afterEach(() => platform.stop());

/** Serves both doors with one function; what it returns is the JSON-RPC result, `undefined` means it has answered. */
function serve(handle: (post: Posted, response: ServerResponse) => unknown): void {
  platform.door = async (request, response, body) => {
    const post: Posted = {
      path: request.url!,
      message: JSON.parse(body),
      headers: request.headers,
      left: false,
    };
    posted.push(post);
    response.on('close', () => {
      post.left = !response.writableFinished;
    });
    const result = await handle(post, response);
    if (response.writableEnded || response.headersSent) return;
    if (result === undefined) return;
    if (post.message.id === undefined) return void response.writeHead(202).end();
    json(response, 200, { jsonrpc: '2.0', id: post.message.id, result });
  };
}

function json(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
}

function stream(response: ServerResponse): { send(value: unknown): void; end(): void } {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(': first\n\n');
  return {
    send: value => void response.write(`event: message\ndata: ${JSON.stringify(value)}\n\n`),
    end: () => void response.end(),
  };
}

function send(...messages: (Json | Json[] | string)[]): void {
  for (const message of messages) {
    io.stdin.write(typeof message === 'string' ? message : `${JSON.stringify(message)}\n`);
  }
}

const received = (): Json[] =>
  io
    .out()
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line));

const call = (id: unknown, name: string, extra: Json = {}): Json => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: {}, ...extra },
});
const progress = {
  jsonrpc: '2.0',
  method: 'notifications/progress',
  params: { progressToken: 1, progress: 1 },
};
const modern = { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } };
const initialize = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } },
};
const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };

describe('stdio', () => {
  it('passes a line on as it is, with headers and the owner, and its answer back', async () => {
    let body = '';
    platform.door = (_, response, text) => {
      body = text;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('{"jsonrpc":"2.0","id":1,\n"result":{"n":12345678901234567890,"s":"\u2028"}}');
    };
    const line = '{"jsonrpc":"2.0", "id":1,"method":"tools/list","params":{"n":1.0,"s":"\\ud800 ő😀"}}';
    io.stdin.end(`${line}\r\n`);
    expect(await io.run('stdio')).toBe(0);
    expect(body.trimEnd()).toBe(line);
    expect(io.out()).toBe('{"jsonrpc":"2.0","id":1, "result":{"n":12345678901234567890,"s":"\\u2028"}}\n');
  });

  it('sends no Origin and the owner token, so the operator door takes it', async () => {
    serve(() => ({ tools: [] }));
    send(call(1, 'demo', modern));
    io.stdin.end();
    await io.run('stdio');
    expect(posted[0]).toMatchObject({
      path: '/mcp',
      headers: {
        authorization: 'Bearer owner-1',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'demo',
        accept: 'application/json, text/event-stream',
      },
    });
    expect(posted[0]!.headers.origin).toBeUndefined();
  });

  it('answers calls that run side by side as they finish, and equal ids each once', async () => {
    const { promise: mayGo, resolve: go } = Promise.withResolvers<void>();
    serve(async post => {
      const { name } = post.message.params as { name: string };
      if (name === 'slow') await mayGo;
      return { name };
    });
    send(call(1, 'slow'));
    const ended = io.run('stdio');
    await eventually(() => expect(posted).toHaveLength(1));
    send(call(1, 'fast'), call('1', 'fast'));
    io.stdin.end();
    await eventually(() => expect(received()).toHaveLength(2));
    go();
    expect(await ended).toBe(0);
    const names = received().map(answer => [answer.id, (answer.result as Json).name]);
    expect(names.at(-1)).toEqual([1, 'slow']);
    expect(names).toHaveLength(3);
    expect(names).toEqual(
      expect.arrayContaining([
        [1, 'fast'],
        ['1', 'fast'],
      ]),
    );
  });

  it('passes progress through as it comes', async () => {
    let finish = (): void => {};
    serve((post, response) => {
      const events = stream(response);
      events.send(progress);
      finish = () => {
        events.send({ jsonrpc: '2.0', id: post.message.id, result: {} });
        events.end();
      };
    });
    send(call(1, 'demo'));
    const ended = io.run('stdio');
    await eventually(() => expect(received()).toEqual([progress]));
    // The input has ended, but the call is still answered.
    io.stdin.end();
    await once(io.stdin, 'close');
    finish();
    expect(await ended).toBe(0);
    expect(received()).toEqual([progress, { jsonrpc: '2.0', id: 1, result: {} }]);
  });

  it('passes a batch on as one', async () => {
    platform.door = (_, response, body) => {
      const ids = JSON.parse(body).flatMap((message: Json) => message.id ?? []);
      json(
        response,
        200,
        ids.map((id: unknown) => ({ jsonrpc: '2.0', id, result: {} })),
      );
    };
    send([call(1, 'a'), initialized, call(2, 'b')]);
    io.stdin.end();
    await io.run('stdio');
    expect(received()).toEqual([
      [
        { jsonrpc: '2.0', id: 1, result: {} },
        { jsonrpc: '2.0', id: 2, result: {} },
      ],
    ]);
  });

  it.each(['{"jsonrpc":\n', '[]\n', '5\n', Buffer.from([0x22, 0xff, 0x22, 0x0a]).toString('latin1')])(
    'answers the line %j with a parse error and goes on',
    async line => {
      serve(() => ({}));
      io.stdin.write(Buffer.from(line, 'latin1'));
      send('\n', call(1, 'demo'));
      io.stdin.end();
      await io.run('stdio');
      const answers = received();
      expect(answers.find(answer => answer.id === null)).toMatchObject({ error: { code: -32700 } });
      expect(answers.find(answer => answer.id === 1)).toMatchObject({ result: {} });
    },
  );
});

describe('stdio in the older eras', () => {
  /** Knows one session at a time, as a platform with its session secret would. */
  function serveSessions(handle: (post: Posted, response: ServerResponse) => unknown): { forget(): void } {
    let current = 0;
    serve((post, response) => {
      if (post.message.method === 'initialize') {
        current += 1;
        const result = { protocolVersion: '2025-06-18', capabilities: {} };
        const answer = { jsonrpc: '2.0', id: post.message.id, result };
        return json(response, 200, answer, { 'mcp-session-id': `sess-${current}` });
      }
      if (post.headers['mcp-session-id'] !== `sess-${current}`) {
        const error = { code: -32001, message: 'Session not found' };
        return json(response, 404, { jsonrpc: '2.0', id: null, error });
      }
      return handle(post, response);
    });
    return {
      forget: () => {
        current += 1;
      },
    };
  }

  it('keeps the session and the negotiated revision, also for a host that does not wait', async () => {
    serveSessions(() => ({ ok: true }));
    send(initialize, initialized, call(1, 'demo'));
    io.stdin.end();
    await io.run('stdio');
    expect(received().map(answer => answer.id)).toEqual([0, 1]);
    const after = posted.filter(post => post.message.method !== 'initialize');
    expect(after).toHaveLength(2);
    for (const { headers } of after) {
      expect(headers).toMatchObject({ 'mcp-session-id': 'sess-1', 'mcp-protocol-version': '2025-06-18' });
      expect(headers['mcp-method']).toBeUndefined();
    }
  });

  it('makes one new session for all calls that meet a forgotten one, unseen by the host', async () => {
    const sessions = serveSessions(() => ({ ok: true }));
    send(initialize, initialized);
    const ended = io.run('stdio');
    await eventually(() => expect(posted).toHaveLength(2));
    sessions.forget();
    send(call(1, 'a'), call(2, 'b'), call(3, 'c'));
    io.stdin.end();
    await ended;
    expect(received().map(answer => [answer.id, 'result' in answer])).toEqual(
      expect.arrayContaining([
        [1, true],
        [2, true],
        [3, true],
      ]),
    );
    expect(received()).toHaveLength(4);
    expect(posted.filter(post => post.message.method === 'initialize')).toHaveLength(2);
    expect(posted.filter(post => post.message.method === 'notifications/initialized')).toHaveLength(2);
  });

  it('carries a question of the server to the host and the answer back', async () => {
    const question = {
      jsonrpc: '2.0',
      id: 'pause_1',
      method: 'elicitation/create',
      params: { message: 'Sure?' },
    };
    let finish = (): void => {};
    serveSessions((post, response) => {
      if (post.message.result) {
        response.writeHead(202).end();
        return finish();
      }
      if (post.message.method !== 'tools/call') return {};
      const events = stream(response);
      events.send(question);
      finish = () => {
        events.send({ jsonrpc: '2.0', id: post.message.id, result: { done: true } });
        events.end();
      };
    });
    send(initialize, initialized, call(1, 'demo'));
    const ended = io.run('stdio');
    await eventually(() => expect(received()).toContainEqual(question));
    send({ jsonrpc: '2.0', id: 'pause_1', result: { action: 'accept' } });
    await eventually(() => expect(received().at(-1)).toMatchObject({ id: 1, result: { done: true } }));
    io.stdin.end();
    expect(await ended).toBe(0);
  });

  it('does not wait for a question nobody can answer any more', async () => {
    let waiting: Posted | undefined;
    serveSessions((post, response) => {
      if (post.message.method !== 'tools/call') return {};
      waiting = post;
      stream(response).send({ jsonrpc: '2.0', id: 'p', method: 'elicitation/create', params: {} });
    });
    send(initialize, initialized, call(1, 'demo'));
    const ended = io.run('stdio');
    await eventually(() => expect(received()).toHaveLength(2));
    io.stdin.end();
    expect(await ended).toBe(0);
    await eventually(() => expect(waiting!.left).toBe(true));
  });

  it('tells the server of a cancellation and makes no answer up', async () => {
    let events: ReturnType<typeof stream> | undefined;
    serveSessions((post, response) => {
      if (post.message.method === 'tools/call') events = stream(response);
      else if (post.message.method === 'notifications/cancelled') events!.end();
      if (post.message.method !== 'tools/call') return {};
    });
    send(initialize, initialized, call(1, 'demo'));
    const ended = io.run('stdio');
    await eventually(() => expect(events).toBeDefined());
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    send(cancelled);
    await eventually(() => expect(posted.at(-1)!.message).toEqual(cancelled));
    io.stdin.end();
    expect(await ended).toBe(0);
    expect(received().map(answer => answer.id)).toEqual([0]);
  });
});

describe('stdio in the stateless era', () => {
  it('cancels by leaving the stream, and sends no notification', async () => {
    serve((_, response) => stream(response).send(progress));
    send(call(1, 'a', modern), call('1', 'b', modern));
    const ended = io.run('stdio');
    await eventually(() => expect(received()).toEqual([progress, progress]));
    send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: '1' } });
    const b = posted.find(post => (post.message.params as Json).name === 'b')!;
    await eventually(() => expect(b.left).toBe(true));
    expect(posted.find(post => post !== b)!.left).toBe(false);
    send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    io.stdin.end();
    expect(await ended).toBe(0);
    expect(received()).toEqual([progress, progress]);
    expect(posted).toHaveLength(2);
  });

  it('lets go of subscriptions when the input ends', async () => {
    serve((_, response) => void stream(response));
    send({ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: modern });
    const ended = io.run('stdio');
    await eventually(() => expect(posted).toHaveLength(1));
    io.stdin.end();
    expect(await ended).toBe(0);
  });
});

describe('stdio when something is wrong', () => {
  it('gives a refusal the id of its request and keeps its code', async () => {
    serve((_, response) =>
      json(response, 400, { jsonrpc: '2.0', id: null, error: { code: -32020, message: 'Header mismatch' } }),
    );
    send(call(7, 'demo', modern));
    io.stdin.end();
    await io.run('stdio');
    expect(received()).toEqual([
      { jsonrpc: '2.0', id: 7, error: { code: -32020, message: 'Header mismatch' } },
    ]);
  });

  it('answers with the status when the answer is no JSON-RPC', async () => {
    serve((_, response) => void response.writeHead(502).end('<html>'));
    send(call(1, 'demo'), initialized);
    io.stdin.end();
    await io.run('stdio');
    expect(received()).toEqual([
      {
        jsonrpc: '2.0',
        id: 1,
        error: {
          code: -32603,
          message: 'The platform answered 502: no reason given',
          data: { httpStatus: 502 },
        },
      },
    ]);
    // The notification has nobody to answer; a person can read of it.
    expect(io.err()).toContain('patchbay: The platform answered 502');
  });

  it('says that a call may have run when the connection breaks', async () => {
    let breakOff = (): unknown => undefined;
    serve((_, response) => {
      stream(response).send(progress);
      breakOff = () => response.destroy();
    });
    send(call(1, 'demo'));
    io.stdin.end();
    const ended = io.run('stdio');
    await eventually(() => expect(received()).toEqual([progress]));
    breakOff();
    await ended;
    expect(received()).toMatchObject([
      progress,
      { id: 1, error: { code: -32603, message: expect.stringContaining('may have run') } },
    ]);
  });

  it('says how to start a platform where none answers, and goes on to live with it', async () => {
    serve(() => ({ ok: true }));
    let down = true;
    io = createTestIo({
      home: platform.home,
      fetch: (url, init) => fetch(down ? 'http://127.0.0.1:2/mcp' : url, init),
    });
    send(call(1, 'demo'));
    const ended = io.run('stdio');
    await eventually(() => expect(received()).toHaveLength(1));
    down = false;
    await platform.restart();
    send(call(2, 'demo'));
    io.stdin.end();
    expect(await ended).toBe(0);
    expect(received()).toMatchObject([
      { id: 1, error: { message: 'The platform does not answer; start it with `npx patchbay up`.' } },
      { id: 2, result: { ok: true } },
    ]);
    expect(posted[0]!.headers.authorization).toBe('Bearer owner-2');
  });

  it('stops at a signal without answers', async () => {
    serve((_, response) => void stream(response));
    send(call(1, 'demo'));
    const ended = io.run('stdio');
    await eventually(() => expect(posted).toHaveLength(1));
    io.signals.emit('SIGTERM');
    expect(await ended).toBe(0);
    expect(received()).toEqual([]);
  });
});

describe('stdio with an agent', () => {
  const door = (accept: (token: string) => boolean) =>
    serve((post, response) => {
      const token = post.headers.authorization?.replace('Bearer ', '') ?? '';
      if (accept(token)) return { ok: true };
      json(response, 401, { jsonrpc: '2.0', id: null, error: { code: 401, message: 'unauthorized' } });
    });

  it('makes one key for this bridge, which ends with it', async () => {
    door(token => platform.keys.get(token)?.scopes.includes('agents') === true);
    send(call(1, 'demo'), call(2, 'demo'));
    io.stdin.end();
    expect(await io.run('stdio', 'demo')).toBe(0);
    expect(posted.map(post => post.path)).toEqual(['/demo/mcp', '/demo/mcp']);
    expect(received()).toHaveLength(2);
    expect(received()).toMatchObject([{ result: { ok: true } }, { result: { ok: true } }]);
    expect(platform.calls.map(call => call.name)).toEqual(['create_key', 'revoke_key']);
    expect(platform.calls[0]!.args).toEqual({ name: 'stdio demo', scopes: ['agents'], expiresInDays: 1 });
    expect(platform.keys.size).toBe(0);
  });

  it('makes another when its key has ended meanwhile, and sends the call once more', async () => {
    door(token => platform.keys.has(token));
    send(call(1, 'demo'));
    const ended = io.run('stdio', 'demo');
    await eventually(() => expect(received()).toHaveLength(1));
    platform.keys.clear();
    send(call(2, 'demo'), call(3, 'demo'));
    io.stdin.end();
    await ended;
    expect(received()).toMatchObject([{ result: {} }, { result: {} }, { result: {} }]);
    expect(platform.calls.filter(call => call.name === 'create_key')).toHaveLength(2);
  });

  it('makes no other when the agent is what was refused', async () => {
    door(() => false);
    send(call(1, 'nobody'));
    io.stdin.end();
    await io.run('stdio', 'nobody');
    expect(received()).toMatchObject([{ id: 1, error: { code: 401, message: 'unauthorized' } }]);
    expect(platform.calls.filter(call => call.name === 'create_key')).toHaveLength(1);
    expect(platform.keys.size).toBe(0);
  });

  it('uses a given key and makes none', async () => {
    door(token => token === 'bak_mine');
    send(call(1, 'demo'));
    io.stdin.end();
    await io.run('stdio', 'demo', '--key', 'bak_mine');
    expect(received()).toMatchObject([{ id: 1, result: { ok: true } }]);
    expect(platform.calls).toEqual([]);
  });

  it('exits 2 for what is no id', async () => {
    expect(await io.run('stdio', '../mcp')).toBe(2);
  });
});
