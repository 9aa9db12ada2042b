import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The floor: reads a JSON-RPC call, writes its text back, knows nothing of MCP. */
const server = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', text => {
    body += text;
  });
  request.on('end', () => {
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
