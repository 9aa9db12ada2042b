import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../kernel/clock.ts';
import { createSafeFetch } from '../../kernel/safe-fetch.ts';
import { CLIENT_DOCUMENT, createClientDocuments } from './client-documents.ts';

/** Here 127.0.0.1 counts as a public address when a name resolves to it: the host of a document is outside. */
vi.mock('../../kernel/network-address.ts', async original => {
  const real = await original<typeof import('../../kernel/network-address.ts')>();
  return {
    ...real,
    classifyAddress: (address: string) =>
      address === '127.0.0.1' ? 'public' : real.classifyAddress(address),
  };
});

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const each of undo.splice(0)) await each();
});

/** The document at an address outside, gotten as the platform gets it. The five seconds are over with `seconds`. */
async function documentFrom(answer: (response: ServerResponse, id: string) => void) {
  const over = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    answer(response, `http://${request.headers.host}${request.url}`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const safeFetch = createSafeFetch({
    allowPrivate: () => false,
    resolve: async () => ['127.0.0.1'],
    clock: {
      now: systemClock.now,
      sleep: (ms, signal) => (ms === 5_000 ? over.promise : systemClock.sleep(ms, signal)),
    },
  });
  undo.push(
    () => safeFetch.close(),
    () => server.closeAllConnections(),
    () => server.close(),
  );
  const { port } = server.address() as AddressInfo;
  const documents = createClientDocuments(safeFetch.with(CLIENT_DOCUMENT));
  return { seconds: over.resolve, document: documents(`http://editor.example:${port}/client.json`) };
}

const described = (client_id: string, padding = '') =>
  JSON.stringify({ client_id, redirect_uris: ['https://editor.example/cb'], padding });

describe('the document of a client (attack 13)', () => {
  it('is read when it is small', async () => {
    const { document } = await documentFrom((response, id) => response.end(described(id)));
    expect(await (await document).json()).toMatchObject({ redirect_uris: ['https://editor.example/cb'] });
  });

  it('is not read to its end when it is larger than 5 KiB', async () => {
    const { document } = await documentFrom((response, id) => response.end(described(id, 'x'.repeat(5_200))));
    await expect(document).rejects.toThrow(/5120 bytes/);
  });

  it('is not waited for longer than five seconds, however slowly it comes', async () => {
    const { document, seconds } = await documentFrom((response, id) => {
      response.write(described(id).slice(0, 20));
      seconds();
    });
    await expect(document).rejects.toThrow(/it took too long/);
  });
});
