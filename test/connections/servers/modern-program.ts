/** A server of the stateless era as a program, built on the official SDK. */
import { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

serveStdio(
  () => {
    const server = new Server({ name: 'modern', version: '1.0.0' }, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', async () => ({
      tools: [{ name: 'greet', inputSchema: { type: 'object' } }],
    }));
    server.setRequestHandler('tools/call', async () => ({ content: [{ type: 'text', text: 'hello' }] }));
    return server;
  },
  { legacy: 'reject' },
);
