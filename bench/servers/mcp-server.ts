import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerTo, type Message } from './echo.ts';

/**
 * The MCP server behind the rows that go on to one: node:http and nothing else, JSON answers. It speaks the stateless era below `/stateless`,
 * below `/session` the one with a handshake, and has many tools where `/many` follows.
 */
const server = createServer((request, response) => {
  if (request.method !== 'POST') return void response.writeHead(request.method === 'GET' ? 405 : 200).end();
  let body = '';
  request.setEncoding('utf8').on('data', text => {
    body += text;
  });
  request.on('end', () => answer(request, response, JSON.parse(body)));
});

function answer(request: IncomingMessage, response: ServerResponse, message: Message): void {
  if (message.id === undefined) return void response.writeHead(202).end();
  const [, era, kind] = request.url!.split('/');
  const said = JSON.stringify(
    answerTo(message, { era: era === 'stateless' ? era : 'session', hasMany: kind === 'many' }),
  );
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(said),
    ...(message.method === 'initialize' && { 'mcp-session-id': 'bench' }),
  });
  response.end(said);
}

server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
