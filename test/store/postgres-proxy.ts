import { once } from 'node:events';
import { connect, createServer } from 'node:net';

const NOTIFICATION = 0x41;
const COMMIT = Buffer.from('Q\0\0\0\x0bcommit\0', 'latin1');

/** Passes everything between a client and a PostgreSQL server, except as it is told. */
export interface PostgresProxy extends AsyncDisposable {
  readonly url: string;
  /** Loses notifications: what a pooler that gives each transaction another connection does to LISTEN. */
  deaf: boolean;
  /** Takes everything and passes nothing on, as a network that went away does. */
  silent: boolean;
  /** Breaks the next connection that commits, after the server has taken the commit and before the client hears of it. */
  cutsAtCommit: boolean;
  /** Breaks the connection the server sees at this port on the client's side only: the server goes on until it notices. */
  cut(port: number): void;
}

export async function startPostgresProxy(serverUrl: string): Promise<PostgresProxy> {
  const target = new URL(serverUrl);
  const sockets = new Set<{ destroy(): void }>();
  const clients = new Map<number, () => void>();
  const server = createServer(client => {
    const database = connect(Number(target.port), target.hostname);
    let isCut = false;
    database.on('connect', () => clients.set(database.localPort!, () => client.resetAndDestroy()));
    for (const socket of [client, database]) {
      sockets.add(socket);
      socket.on('error', () => {});
    }
    database.on('close', () => client.destroy());
    // What the server has taken it finishes, and hears of the end then.
    client.on('close', () => database.end());
    client.on('data', chunk => {
      if (proxy.silent) return;
      if (proxy.cutsAtCommit && chunk.equals(COMMIT)) {
        proxy.cutsAtCommit = false;
        isCut = true;
      }
      database.write(chunk);
    });
    let pending = Buffer.alloc(0);
    database.on('data', chunk => {
      if (proxy.silent || client.destroyed) return;
      if (isCut) return client.destroy();
      pending = Buffer.concat([pending, chunk]);
      // A message is a type of one byte and a length that counts itself.
      while (pending.length >= 5 && pending.length > pending.readInt32BE(1)) {
        const end = pending.readInt32BE(1) + 1;
        if (!proxy.deaf || pending[0] !== NOTIFICATION) client.write(pending.subarray(0, end));
        pending = pending.subarray(end);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const url = new URL(serverUrl);
  url.port = String(port);
  const proxy: PostgresProxy = {
    url: url.href,
    deaf: false,
    silent: false,
    cutsAtCommit: false,
    cut: port => clients.get(port)?.(),
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
  return proxy;
}
