import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { UnauthorizedError } from '@modelcontextprotocol/client';
import { createSdkHost } from '../../authorization/sdk-host.ts';
import { answered } from '../clients/stock-client.ts';
import type { SignInHost } from './sign-in-host.ts';

/** A program that uses the SDK's client, with what its documentation tells it to bring: where to keep things, and where to come back to. */
export const sdkClient: SignInHost = {
  name: 'SDK client',
  clientName: 'SDK host',
  async start({ door, era, visit }) {
    const callback = await listenForBrowser();
    const host = createSdkHost(door.url, callback.url);
    const mode = era === 'legacy' ? 'legacy' : ({ pin: '2026-07-28' } as const);
    const client = await host.connect(mode).catch(async error => {
      if (!(error instanceof UnauthorizedError)) throw error;
      await visit(host.browserUrl());
      await host.finish(callback.cameBackTo());
      return host.connect(mode);
    });
    return {
      call: async (tool, args) => answered(await client.callTool({ name: tool, arguments: args })),
      async close() {
        await client.close();
        callback.close();
      },
    };
  },
};

/** Where it waits for the browser. */
async function listenForBrowser(): Promise<{
  readonly url: string;
  /** Throws when the browser was not here. */
  cameBackTo(): URL;
  close(): void;
}> {
  let cameBackTo: URL | undefined;
  const server = createServer((request, response) => {
    const address = new URL(request.url!, url);
    if (address.pathname === '/callback') cameBackTo = address;
    response.end('You may close this window.');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`;
  return {
    url,
    cameBackTo() {
      if (cameBackTo === undefined) throw new Error('The browser did not come back.');
      return cameBackTo;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
