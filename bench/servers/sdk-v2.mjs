// Plain JavaScript: the SDKs measured here are installed by the bench only, so the type check cannot see them.
import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';

/** SDK v2 as its documentation serves it, on the low-level server: one prepared tool, a fresh server a request. */
const handler = createMcpHandler(() => {
  const mcp = new Server({ name: 'echo', version: '1.0.0' }, { capabilities: { tools: {} } });
  mcp.setRequestHandler('tools/call', request => ({
    content: [{ type: 'text', text: String(request.params.arguments?.text) }],
  }));
  return mcp;
});

const server = createServer(toNodeHandler(handler));
server.listen(0, '127.0.0.1', () => {
  process.send({ url: `http://127.0.0.1:${server.address().port}/mcp` });
});
