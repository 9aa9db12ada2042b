import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A JSON-RPC message as it came, with the HTTP headers it came with. */
export interface Heard {
  readonly id?: number;
  readonly method: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into what they sent themselves
  readonly params: any;
  readonly headers: IncomingHttpHeaders;
}

export interface ScriptedAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export interface ScriptedServer extends AsyncDisposable {
  readonly url: string;
  /** Every message it got, in order. */
  readonly heard: readonly Heard[];
  /** Paths with their queries, as they were asked for. */
  readonly addresses: readonly string[];
  /** Requests that were no POST. */
  readonly others: readonly string[];
}

/** An HTTP server that answers each message as a test says, right or wrong. */
export async function startScriptedServer(
  answer: (message: Heard, earlier: number) => ScriptedAnswer,
): Promise<ScriptedServer> {
  const heard: Heard[] = [];
  const others: string[] = [];
  const addresses: string[] = [];
  const server = createServer(async (request, response) => {
    addresses.push(request.url!);
    if (request.method !== 'POST') {
      others.push(request.method!);
      return void response.writeHead(405).end();
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const message = JSON.parse(Buffer.concat(chunks).toString());
    const earlier = heard.filter(({ method }) => method === message.method).length;
    heard.push({ ...message, headers: request.headers });
    if (message.id === undefined) return void response.writeHead(202).end();
    const { status = 200, headers = {}, result, error } = answer(heard.at(-1)!, earlier);
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(
      JSON.stringify({ jsonrpc: '2.0', id: message.id, ...(error ? { error } : { result: result ?? {} }) }),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    heard,
    addresses,
    others,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** What a server of the stateless era says of itself. */
export const DISCOVERED = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {} },
  serverInfo: { name: 'scripted', version: '1.0.0' },
  ttlMs: 0,
  cacheScope: 'private',
};

/** What a server of the older eras says of itself. */
export const INITIALIZED = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'scripted', version: '1.0.0' },
};
