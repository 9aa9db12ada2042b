// Plain JavaScript: the peers measured here are installed by the bench only, so the type check cannot see them.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';

/** Starts what gets a call over HTTP and makes one, as its own command does, and opens the one session that all calls share: `peer.mjs NAME`. */
const program = [process.execPath, join(import.meta.dirname, 'mcp-program.ts')];
const mcpServer = process.env.BENCH_MCP_SERVER;
const port = await freePort();
await PEERS()[process.argv[2]]();

const url = `http://127.0.0.1:${port}/mcp`;
const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const session = await open();
process.send({ url, headers: session });

function PEERS() {
  return {
    sdk: () =>
      import('./sdk-gateway.mjs').then(({ startGateway }) => startGateway(port, `${mcpServer}/session`)),
    civic: () =>
      import('@civic/passthrough-mcp-server').then(({ createPassthroughProxy }) =>
        createPassthroughProxy({
          source: { transportType: 'httpStream', port, mcpPath: '/mcp' },
          target: { url: mcpServer, transportType: 'httpStream', mcpPath: '/session' },
        }),
      ),
    'mcp-proxy': () =>
      run('mcp-proxy/dist/bin/mcp-proxy.mjs', ['--port', port, '--host', '127.0.0.1', '--', ...program]),
    supergateway: () =>
      run('supergateway/dist/index.js', [
        '--stdio',
        program.join(' '),
        '--outputTransport',
        'streamableHttp',
        '--stateful',
        '--port',
        port,
        '--logLevel',
        'none',
      ]),
  };
}

/** A command in this process, so that there is no other one to count. */
async function run(script, args) {
  process.argv = [process.execPath, script, ...args.map(String)];
  await import(join(import.meta.dirname, '..', 'node_modules', script));
}

async function open() {
  const params = {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1.0.0' },
  };
  const initialize = { jsonrpc: '2.0', id: 0, method: 'initialize', params };
  const opened = await post(initialize, {}, 50);
  await opened.text();
  const known = {
    'mcp-session-id': opened.headers.get('mcp-session-id'),
    'mcp-protocol-version': '2025-06-18',
  };
  await (await post({ jsonrpc: '2.0', method: 'notifications/initialized' }, known, 1)).text();
  return known;
}

/** Again until somebody listens. */
async function post(message, more, tries) {
  for (;;) {
    try {
      return await fetch(url, {
        method: 'POST',
        headers: { ...headers, ...more },
        body: JSON.stringify(message),
      });
    } catch (error) {
      if (--tries <= 0) throw error;
      await new Promise(resolve => setTimeout(resolve, 100));
    }
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
