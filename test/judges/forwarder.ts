import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Forwarder {
  /** The origin a judge is pointed to, such as http://127.0.0.1:40000. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * A loopback proxy that signs a judge in: it puts its own Authorization in place of the caller's and passes everything else
 * as it came, method, path, Host, Origin, repeated and unknown headers, bodies and streams, byte by byte in both directions.
 * When either side goes away, the other one is told: closing a stream is how a client cancels.
 */
export async function startForwarder(options: { target: string; authorization: string }): Promise<Forwarder> {
  const target = new URL(options.target);
  const server = createServer((incoming, answer) => {
    const outgoing = request({
      host: target.hostname,
      port: target.port,
      method: incoming.method,
      path: incoming.url,
      headers: signedIn(incoming.rawHeaders, options.authorization),
      setHost: false,
    });
    outgoing.on('response', response => {
      answer.sendDate = false;
      answer.writeHead(response.statusCode ?? 502, response.statusMessage, response.rawHeaders);
      // An event stream may stay silent for long after its head; the judge must see that it is open.
      answer.flushHeaders();
      response.pipe(answer);
      response.on('error', () => answer.destroy());
    });
    outgoing.on('error', () => answer.destroy());
    answer.on('close', () => outgoing.destroy());
    incoming.on('error', () => outgoing.destroy());
    incoming.pipe(outgoing);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve, reject) => {
        server.close(error => (error ? reject(error) : resolve()));
        server.closeAllConnections();
      }),
  };
}

/** `rawHeaders` as it came, name and value alternating, with the one Authorization exchanged. */
function signedIn(rawHeaders: readonly string[], authorization: string): string[] {
  const headers: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (name.toLowerCase() !== 'authorization') headers.push(name, rawHeaders[i + 1]!);
  }
  headers.push('Authorization', authorization);
  return headers;
}
