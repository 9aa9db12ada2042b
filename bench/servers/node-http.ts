import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startUpstream } from './upstream.ts';

/** With this argument each call asks another server first, as an agent with HTTP calls does. */
const upstream = process.argv[2] === 'fetching' ? await startUpstream() : undefined;

/** The floor: reads a JSON-RPC call, writes its text back, knows nothing of MCP. */
const server = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', text => {
    body += text;
  });
  request.on('end', async () => {
    if (upstream) await (await fetch(upstream)).json();
    const { id, params } = JSON.parse(body);
    const result = { content: [{ type: 'text', text: params.arguments.text }] };
    const answer = JSON.stringify({ jsonrpc: '2.0', id, result });
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(answer),
    });
    response.end(answer);
  });
});
server.listen(0, '127.0.0.1', () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp` });
});
