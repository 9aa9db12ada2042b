import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { MCP_REMOTE } from '../clients/mcp-remote.ts';
import { answered } from '../clients/stock-client.ts';
import { freePort } from './free-port.ts';
import type { SignInHost } from './sign-in-host.ts';

/** mcp-remote in front of a host that only starts programs: it signs in while the host waits for it. */
export const mcpRemote: SignInHost = {
  name: 'mcp-remote',
  clientName: 'MCP CLI Proxy',
  async start({ door, era, home, browser }) {
    const mode = era === 'legacy' ? 'legacy' : { pin: '2026-07-28' };
    const client = new Client({ name: 'stdio host', version: '1.0.0' }, { versionNegotiation: { mode } });
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        // Without one it takes a port that follows from the address, be it in use under another name of this machine.
        args: [MCP_REMOTE, door.url, String(await freePort())],
        // It finds the program that opens the browser with the tools of a shell.
        env: {
          PATH: process.env.PATH ?? '',
          HOME: home,
          BROWSER: browser,
          MCP_REMOTE_CONFIG_DIR: join(home, 'mcp-auth'),
        },
        stderr: 'ignore',
      }),
    );
    return {
      call: async (tool, args) => answered(await client.callTool({ name: tool, arguments: args })),
      close: () => client.close(),
    };
  },
};
