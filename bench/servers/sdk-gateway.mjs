// Plain JavaScript: the SDK measured here is installed by the bench only, so the type check cannot see it.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema } from '@modelcontextprotocol/sdk/types.js';

/** The gateway one writes first: a server of the SDK whose handler calls a client of the SDK, one session on each side. */
export async function startGateway(port, upstream) {
  const client = new Client({ name: 'gateway', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(new URL(upstream)));
  const mcp = new Server({ name: 'gateway', version: '1.0.0' }, { capabilities: { tools: {} } });
  mcp.setRequestHandler(CallToolRequestSchema, request => client.callTool(request.params));
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    enableJsonResponse: true,
  });
  await mcp.connect(transport);
  const server = createServer((request, response) => transport.handleRequest(request, response));
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
}
