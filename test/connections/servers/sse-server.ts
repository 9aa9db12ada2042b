import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SseServer extends AsyncDisposable {
  readonly url: string;
  /** `<method> <token>` of every request, in order. */
  readonly heard: readonly string[];
}

/** A server of the oldest revision, HTTP+SSE, that lets in who has one of these tokens. Streamable HTTP is 405 there. */
export async function startSseServer(valid: ReadonlySet<string>): Promise<SseServer> {
  const heard: string[] = [];
  let stream: ServerResponse | undefined;
  const say = (event: string, data: string) => stream!.write(`event: ${event}\ndata: ${data}\n\n`);
  const server = createServer(async (request, response) => {
    const token = request.headers.authorization?.split(' ')[1];
    heard.push(`${request.method} ${token}`);
    if (token === undefined || !valid.has(token))
      return void response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      stream = response;
      return void say('endpoint', '/messages');
    }
    if (request.url !== '/messages') return void response.writeHead(405).end();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { id, method } = JSON.parse(Buffer.concat(chunks).toString());
    response.writeHead(202).end();
    if (id === undefined) return;
    const result =
      method === 'initialize'
        ? { protocolVersion: '2024-11-05', capabilities: {}, serverInfo: { name: 'old', version: '1' } }
        : { content: [] };
    say('message', JSON.stringify({ jsonrpc: '2.0', id, result }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/sse`,
    heard,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
