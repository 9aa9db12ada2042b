import { Server } from '@modelcontextprotocol/server';
import type { Caller, McpDoor } from './door.ts';
import { type Exchange, runCall } from './exchange.ts';
import { resourceMethods } from './resources.ts';

/** The SDK's server for one request of one caller: the door's lists, and the call that was prepared. */
export function buildServer<C extends Caller>(door: McpDoor<C>, exchange: Exchange<C>): Server {
  const { caller } = exchange;
  const instructions = door.instructions(caller);
  const server = new Server(door.serverInfo(caller), {
    capabilities: door.capabilities,
    ...(instructions !== undefined && { instructions }),
  });
  server.setRequestHandler('tools/list', () => ({ tools: [...door.tools(caller)] }));
  server.setRequestHandler('tools/call', (_request, ctx) => runCall(exchange, ctx));
  if (door.resources) {
    const resources = resourceMethods(door.resources, caller);
    server.setRequestHandler('resources/list', resources.list);
    server.setRequestHandler('resources/templates/list', resources.templates);
    server.setRequestHandler('resources/read', ({ params }) => resources.read(params.uri));
  }
  return server;
}
