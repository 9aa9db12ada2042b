import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createSafeFetch } from './safe-fetch.ts';

/**
 * Here 127.0.0.1 counts as a public address when a name resolves to it, so that what happens between two public hosts can
 * be driven over real sockets without a network. Everything else is as it is.
 */
vi.mock('./network-address.ts', async original => {
  const real = await original<typeof import('./network-address.ts')>();
  return {
    ...real,
    classifyAddress: (address: string) =>
      address === '127.0.0.1' ? 'public' : real.classifyAddress(address),
  };
});

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function twoHosts(status: number) {
  const seen: { method: string; headers: IncomingMessage['headers']; body: string }[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    seen.push({ method: request.method!, headers: request.headers, body });
    if (request.headers.host?.startsWith('one.example')) {
      response.writeHead(status, { location: `http://two.example:${port}/` }).end();
    } else response.end('two');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const safeFetch = createSafeFetch({ allowPrivate: () => false, resolve: async () => ['127.0.0.1'] });
  cleanups.push(
    () => safeFetch.close(),
    () => server.close(),
  );
  return { seen, safeFetch, url: `http://one.example:${port}/` };
}

describe('a redirect to another origin', () => {
  const headers = {
    authorization: 'Bearer abcdef',
    cookie: 'session=1',
    'x-agent-api-key': 'k',
    'x-any-credential': 'c',
    'mcp-session-id': 's',
    accept: 'application/json',
  };

  it.each(['operator', 'outside'] as const)(
    'leaves every header behind that could be a credential (%s)',
    async from => {
      const { seen, safeFetch, url } = await twoHosts(302);
      const response = await safeFetch(url, { hostFrom: from, headers });
      expect(await response.text()).toBe('two');
      expect(seen[0]!.headers).toMatchObject(headers);
      expect(seen[1]!.headers).toMatchObject({ accept: 'application/json' });
      for (const name of Object.keys(headers))
        if (name !== 'accept') expect(seen[1]!.headers).not.toHaveProperty(name);
    },
  );

  it('does not take a body along, which may hold a secret too', async () => {
    const { seen, safeFetch, url } = await twoHosts(307);
    const sending = safeFetch(url, { hostFrom: 'outside', method: 'POST', body: 'client_secret=x' });
    await expect(sending).rejects.toMatchObject({
      kind: 'invalid',
      message: expect.stringMatching(/the body is not sent; use the new address$/),
      details: { reason: 'redirect', sent: true },
    });
    expect(seen).toHaveLength(1);
  });

  it('turns a POST into a GET where HTTP says so', async () => {
    const { seen, safeFetch, url } = await twoHosts(303);
    await safeFetch(url, { hostFrom: 'outside', method: 'POST', body: 'client_secret=x', headers });
    expect(seen[1]).toMatchObject({ method: 'GET', body: '' });
  });
});
