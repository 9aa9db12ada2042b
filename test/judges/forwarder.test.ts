import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { startForwarder } from './forwarder.ts';

it('puts its credential in place of the one that came and leaves the other headers alone', async () => {
  let seen: string[] = [];
  const upstream = createServer((incoming, response) => {
    seen = incoming.rawHeaders;
    response.end();
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const { port } = upstream.address() as AddressInfo;
  const forwarder = await startForwarder({
    target: `http://127.0.0.1:${port}`,
    authorization: 'Bearer secret',
  });
  try {
    const headers = ['Host', 'evil.example', 'X-Two', 'a', 'X-Two', 'b'];
    const outgoing = request(`${forwarder.url}/mcp`, {
      headers: [...headers, 'authorization', 'Bearer mine'],
      setHost: false,
    }).end();
    const [response] = await once(outgoing, 'response');
    response.resume();
    expect(seen.slice(0, headers.length)).toEqual(headers);
    const credentials = seen.filter((_, i) => seen[i - 1]?.toLowerCase() === 'authorization');
    expect(credentials).toEqual(['Bearer secret']);
  } finally {
    await forwarder.close();
    upstream.close();
  }
});
