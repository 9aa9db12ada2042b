import { join } from 'node:path';
import { Client, type VersionNegotiationMode } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { answered, bearer, type StockClient } from './stock-client.ts';

/** The program. */
export const MCP_REMOTE = join(import.meta.dirname, 'node_modules/mcp-remote/dist/proxy.js');

/** A host that only starts programs starts this one, with the key in the environment, as its README shows. */
const open =
  (mode: VersionNegotiationMode): StockClient['open'] =>
  async door => {
    const client = new Client({ name: 'stdio host', version: '1.0.0' }, { versionNegotiation: { mode } });
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [MCP_REMOTE, door.url, '--header', `Authorization:\${AUTHORIZATION}`],
        env: { AUTHORIZATION: bearer(door).Authorization },
        stderr: 'ignore',
      }),
    );
    return {
      listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
      async callTool(tool, args, options) {
        const result = await client.callTool(
          { name: tool, arguments: args },
          {
            ...(options?.signal && { signal: options.signal }),
            ...(options?.onProgress && {
              onprogress: ({ message = '' }) => options.onProgress!(message),
            }),
          },
        );
        return answered(result);
      },
      close: () => client.close(),
    };
  };

/** mcp-remote in front of a host of the older eras. */
export const mcpRemoteOlder: StockClient = {
  name: 'mcp-remote, older host',
  doors: ['operator'],
  speaks: '2025-11-25',
  showsProgress: true,
  cancels: true,
  open: open('legacy'),
};

/** mcp-remote in front of a host that asks for the newest revision. */
export const mcpRemoteNewest: StockClient = {
  name: 'mcp-remote, newest host',
  doors: ['operator'],
  speaks: '2026-07-28',
  showsProgress: true,
  // It posts the host's notifications/cancelled and leaves the stream open; over HTTP only closing the stream cancels.
  cancels: false,
  open: open('auto'),
};
