// Plain JavaScript: the SDKs measured here are installed by the bench only, so the type check cannot see them.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema } from '@modelcontextprotocol/sdk/types.js';

/** SDK v1 at its fastest: the low-level server, one session for all calls, JSON answers. */
const mcp = new Server({ name: 'echo', version: '1.0.0' }, { capabilities: { tools: {} } });
mcp.setRequestHandler(CallToolRequestSchema, request => ({
  content: [{ type: 'text', text: String(request.params.arguments?.text) }],
}));
const transport = new StreamableHTTPServerTransport({
  sessionIdGenerator: () => randomUUID(),
  enableJsonResponse: true,
});
await mcp.connect(transport);

const server = createServer((request, response) => transport.handleRequest(request, response));
server.listen(0, '127.0.0.1', async () => {
  const url = `http://127.0.0.1:${server.address().port}/mcp`;
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1.0.0' },
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
  const opened = await fetch(url, { method: 'POST', headers, body });
  await opened.text();
  process.send({ url, headers: { 'mcp-session-id': opened.headers.get('mcp-session-id') } });
});
