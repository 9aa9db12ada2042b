import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** For a program that has to be told one. Of those that systems hand out, which browsers go to; of others they refuse some. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
