import { connect } from 'node:net';
import fc from 'fast-check';

/** One request no honest client sends, as the bytes that go over the wire. */
export interface HostileRequest {
  readonly kind: string;
  readonly bytes: Buffer;
}

/** What came back, or why nothing did. */
export interface HostileAnswer {
  /** 0 when the connection ended without an answer. */
  readonly status: number;
  readonly text: string;
}

const PATIENCE_MS = 5_000;

/** Words an answer must never hold: they tell of files, engines or stacks. */
const INTERNALS =
  /node_modules|\.ts:\d+|\/work\/|\/root\/|\/home\/|sqlite|kysely|postgres|at async |undici|ZodError|stack/i;

/** Complaints about one answer: a server error, silence, or words from inside. */
export function judge({ kind, bytes }: HostileRequest, { status, text }: HostileAnswer): string[] {
  const complaints: string[] = [];
  if (status >= 500) complaints.push(`${kind}: status ${status}`);
  // A body that never comes whole cannot be answered.
  if (status === 0 && kind !== 'lying length') complaints.push(`${kind}: no answer`);
  // What the request said itself may come back as part of a message.
  const own = bytes.toString('latin1');
  const leaked = INTERNALS.exec(text)?.[0];
  if (leaked !== undefined && !own.includes(leaked)) complaints.push(`${kind}: the answer says "${leaked}"`);
  return complaints;
}

/** Sends the bytes and reads one answer. Opens a connection of its own, so that no request can spoil another. */
export function send(url: URL, request: HostileRequest): Promise<HostileAnswer> {
  return new Promise(resolve => {
    const socket = connect(Number(url.port), url.hostname);
    const chunks: Buffer[] = [];
    const end = () => {
      socket.destroy();
      const text = Buffer.concat(chunks).toString('utf8');
      resolve({ status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0), text });
    };
    socket.setTimeout(PATIENCE_MS, end);
    socket.on('data', chunk => chunks.push(chunk));
    socket.on('close', end);
    socket.on('error', () => {});
    // A client that has said everything keeps its side open, or a slow answer would find it closed.
    if (request.kind === 'lying length') socket.end(request.bytes);
    else socket.write(request.bytes);
  });
}

/** Requests of every hostile kind, repeatable by their seed. */
export function hostileRequests(
  url: URL,
  key: string,
  options: { readonly count: number; readonly seed: number },
): HostileRequest[] {
  return fc.sample(hostileRequest(url, key), { numRuns: options.count, seed: options.seed });
}

const METHODS = [
  'tools/list',
  'tools/call',
  'resources/read',
  'initialize',
  'ping',
  'server/discover',
  'notifications/cancelled',
  'x',
];

function hostileRequest(url: URL, key: string): fc.Arbitrary<HostileRequest> {
  const post = (body: Buffer | string, headers: Record<string, string> = {}) => {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    const all: Record<string, string> = {
      Host: url.host,
      Authorization: `Bearer ${key}`,
      'Content-Type': 'application/json',
      'Content-Length': String(bytes.length),
      Connection: 'close',
      ...headers,
    };
    const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    return Buffer.concat([
      Buffer.from(`POST ${url.pathname} HTTP/1.1\r\n${head.join('')}\r\n`, 'latin1'),
      bytes,
    ]);
  };
  const message = (method: string, params: unknown, id: unknown = 1) =>
    JSON.stringify({ jsonrpc: '2.0', id, method, params });
  const kind = <T>(name: string, arbitrary: fc.Arbitrary<T>, make: (value: T) => Buffer) =>
    arbitrary.map(value => ({ kind: name, bytes: make(value) }));
  const anything = fc
    .anything({ maxDepth: 3, withNullPrototype: false })
    .map(value => JSON.parse(JSON.stringify(value) ?? 'null') as unknown);
  const text = fc.string({ unit: 'binary', maxLength: 60 });
  const method = fc.constantFrom(...METHODS);

  return fc.oneof(
    kind('bad JSON', fc.tuple(method, fc.nat(200)), ([name, cut]) =>
      post(message(name, { a: [1, '"', {}] }).slice(0, cut)),
    ),
    kind('random text', text, value => post(value)),
    kind('broken UTF-8', fc.uint8Array({ maxLength: 80 }), value =>
      post(Buffer.concat([Buffer.from('{"jsonrpc":"2.0","id":1,"method":"'), value, Buffer.from('"}')])),
    ),
    kind('deep nesting', fc.tuple(fc.integer({ min: 50, max: 20_000 }), fc.boolean()), ([depth, closed]) =>
      post(
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${'['.repeat(depth)}${closed ? ']'.repeat(depth) : ''}}`,
      ),
    ),
    kind('duplicate keys', method, name =>
      post(`{"jsonrpc":"2.0","id":1,"id":2,"method":"${name}","method":"ping","params":{"a":1,"a":2}}`),
    ),
    kind('prototype keys', fc.constantFrom('__proto__', 'constructor', 'prototype'), name =>
      post(
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":{"${name}":{"x":1}}},"${name}":{}}`,
      ),
    ),
    kind('wrong types', fc.tuple(method, anything, anything), ([name, params, id]) =>
      post(message(name, params, id)),
    ),
    kind(
      'wrong arguments',
      fc.tuple(fc.constantFrom('demo', 'chat_with_agent', 'read_docs', 'list_conversations'), anything),
      ([name, args]) => post(message('tools/call', { name, arguments: args })),
    ),
    kind('odd argument values', fc.tuple(text, anything, text), ([value, other, name]) =>
      post(
        message('tools/call', {
          name: 'demo',
          arguments: { message: value, context_id: other, idempotency_key: name },
        }),
      ),
    ),
    kind('odd addresses', text, uri => post(message('resources/read', { uri }))),
    kind('odd meta', fc.tuple(method, anything), ([name, meta]) =>
      post(message(name, { name: 'demo', arguments: { message: 'x' }, _meta: meta })),
    ),
    kind(
      'huge ids',
      fc.oneof(
        fc.integer({ min: 1, max: 100_000 }).map(length => 'x'.repeat(length)),
        fc.double(),
        fc.constant(1e308),
        fc.constant(2 ** 60),
      ),
      id => post(message('tools/list', {}, id)),
    ),
    kind(
      'batches',
      fc.array(
        fc.oneof(
          anything,
          method.map(name => ({ jsonrpc: '2.0', id: 1, method: name })),
        ),
        { maxLength: 60 },
      ),
      entries => post(JSON.stringify(entries), { 'MCP-Protocol-Version': '2025-03-26' }),
    ),
    kind(
      'lying headers',
      fc.record(
        {
          'MCP-Protocol-Version': fc.constantFrom('2026-07-28', '1', 'x'.repeat(300), '2025-06-18'),
          'Mcp-Method': fc.constantFrom('tools/list', 'x', '=?base64?????=', ''),
          'Mcp-Name': fc.constantFrom('demo', '=?base64?/w==?=', 'x'.repeat(1000)),
          'Mcp-Session-Id': fc.constantFrom('x', 'a.b', '../../etc', 'x'.repeat(2000)),
          'Content-Type': fc.constantFrom(
            'text/plain',
            'application/json; charset=utf-16',
            'multipart/form-data',
            '',
          ),
          Accept: fc.constantFrom('', 'text/html', 'text/event-stream', '*/*;q=0'),
          traceparent: fc.constantFrom('00-0-0-0', 'x', `00-${'0'.repeat(32)}-${'0'.repeat(16)}-00`),
          'X-Agent-API-Key': fc.constantFrom('bak_x', 'oag_x', ''),
        },
        { requiredKeys: [] },
      ),
      headers =>
        post(
          message('tools/call', { name: 'demo', arguments: { message: 'x' } }),
          headers as Record<string, string>,
        ),
    ),
    kind('lying length', fc.integer({ min: 0, max: 60 }), length =>
      post(message('tools/list', {}), { 'Content-Length': String(length) }),
    ),
    kind(
      'other methods',
      fc.constantFrom('GET', 'DELETE', 'PUT', 'PATCH', 'HEAD', 'OPTIONS', 'TRACE'),
      name =>
        Buffer.from(
          `${name} ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`,
        ),
    ),
    kind(
      'odd paths',
      fc.constantFrom(
        '/../mcp',
        '//mcp',
        '/%00/mcp',
        '/%ff/mcp',
        '/demo%2fmcp',
        '/demo/mcp/..',
        `/${'x'.repeat(5000)}/mcp`,
        '/api/v1/%00',
        '/api/v1/conversations/%E0%A4%A',
      ),
      path =>
        Buffer.from(
          `GET ${path} HTTP/1.1\r\nHost: ${url.host}\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`,
        ),
    ),
  );
}
