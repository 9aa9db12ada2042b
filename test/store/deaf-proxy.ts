import { once } from 'node:events';
import { connect, createServer } from 'node:net';

const NOTIFICATION = 0x41;

/**
 * Passes everything between a client and a PostgreSQL server except notifications: what a pooler that gives each transaction
 * another connection does to LISTEN.
 */
export async function startDeafProxy(serverUrl: string): Promise<{ readonly url: string } & AsyncDisposable> {
  const target = new URL(serverUrl);
  const sockets = new Set<{ destroy(): void }>();
  const proxy = createServer(client => {
    const server = connect(Number(target.port), target.hostname);
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        client.destroy();
        server.destroy();
      });
    }
    client.pipe(server);
    let pending = Buffer.alloc(0);
    server.on('data', chunk => {
      pending = Buffer.concat([pending, chunk]);
      // A message is a type of one byte and a length that counts itself.
      while (pending.length >= 5 && pending.length > pending.readInt32BE(1)) {
        const end = pending.readInt32BE(1) + 1;
        if (pending[0] !== NOTIFICATION) client.write(pending.subarray(0, end));
        pending = pending.subarray(end);
      }
    });
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as { port: number };
  const url = new URL(serverUrl);
  url.port = String(port);
  return {
    url: url.href,
    async [Symbol.asyncDispose]() {
      proxy.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
