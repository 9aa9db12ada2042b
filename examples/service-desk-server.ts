import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { json } from 'node:stream/consumers';

// An HTTP API for examples/service-desk.yaml: tickets in memory, behind a key. Run it with: npx node examples/service-desk-server.ts

export interface ServiceDesk {
  /** As they were filed. */
  readonly tickets: readonly { readonly number: number; readonly title: string; readonly state: string }[];
  readonly server: Server;
}

/** Serves on the loopback interface; the port is the server's. */
export async function startServiceDesk({
  port,
  key,
}: {
  readonly port: number;
  readonly key: string;
}): Promise<ServiceDesk> {
  const tickets = [{ number: 1, title: 'The printer is out of paper', state: 'solved' }];
  async function answer({ method, url = '', headers }: IncomingMessage, body: () => Promise<unknown>) {
    if (headers.authorization !== `Bearer ${key}`)
      return { status: 401, body: { error: 'no, or a wrong key' } };
    if (method === 'POST' && url === '/tickets') {
      const { title } = (await body()) as { title: string };
      const ticket = { number: tickets.length + 1, title, state: 'open' };
      tickets.push(ticket);
      return { status: 201, body: ticket };
    }
    const found = method === 'GET' && tickets.find(({ number }) => url === `/tickets/${number}`);
    return found ? { status: 200, body: found } : { status: 404, body: { error: 'there is no such ticket' } };
  }
  const server = createServer(async (request, response) => {
    const { status, body } = await answer(request, () => json(request));
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return { tickets, server };
}

if (import.meta.main) {
  await startServiceDesk({ port: 7099, key: 'not a real key' });
  console.log('The service desk answers at http://127.0.0.1:7099; its key is: not a real key');
}
