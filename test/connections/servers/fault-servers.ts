import { afterEach } from 'vitest';
import { type FaultEra, type FaultServer, startFaultServer, tool } from './fault-server.ts';

export const ERAS: readonly FaultEra[] = ['legacy', 'modern'];

/** For a test file: starts servers for its tests, and ends each after the test that started it. */
export function faultServers() {
  const servers: FaultServer[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) await server[Symbol.asyncDispose]();
  });

  async function start(era: FaultEra = 'modern'): Promise<FaultServer> {
    const server = await startFaultServer(era);
    servers.push(server);
    return server;
  }

  return {
    start,
    /** Of an older era, with tools of these names. */
    async serverWith(...names: string[]): Promise<FaultServer> {
      const server = await start('legacy');
      server.tools = names.map(tool);
      return server;
    },
  };
}
