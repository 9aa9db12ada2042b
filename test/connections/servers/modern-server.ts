import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import type { RunningServer } from './npm-server.ts';

const TOOLS = [
  {
    name: 'count',
    description: 'Counts, and says how far it is.',
    inputSchema: { type: 'object', properties: { to: { type: 'integer' } }, required: ['to'] },
    annotations: { readOnlyHint: true },
  },
] as const;

/** A server of the stateless era only, built on the official SDK. */
export async function startModernServer(): Promise<RunningServer> {
  const handler = createMcpHandler(
    () => {
      const server = new Server(
        { name: 'modern', version: '1.0.0' },
        { capabilities: { tools: { listChanged: true } } },
      );
      server.setRequestHandler('tools/list', async () => ({ tools: [...TOOLS] }) as never);
      server.setRequestHandler('tools/call', async (request, ctx) => {
        const to = Number(request.params.arguments?.to);
        const token = request.params._meta?.progressToken;
        for (let progress = 1; token !== undefined && progress <= to; progress++) {
          await ctx.mcpReq.notify({
            method: 'notifications/progress',
            params: { progressToken: token, progress, total: to },
          });
        }
        return { content: [{ type: 'text', text: `counted to ${to}` }] };
      });
      return server;
    },
    { legacy: 'reject' },
  );
  const listener = serve({ fetch: request => handler.fetch(request), port: 0, hostname: '127.0.0.1' });
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async [Symbol.asyncDispose]() {
      await handler.close();
      listener.close();
      await once(listener, 'close');
    },
  };
}
