import { ProtocolError, ResourceNotFoundError, Server } from '@modelcontextprotocol/server';
import { toPlatformError } from '../../kernel/errors.ts';
import type { Caller, McpDoor } from './door.ts';
import { answerFailure, type Exchange, runCall } from './exchange.ts';

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
  const { resources } = door;
  if (!resources) return server;

  async function guarded<T>(read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (thrown) {
      const { code, message, data } = answerFailure(thrown, caller).error;
      const isForbidden = toPlatformError(thrown, '').kind === 'forbidden';
      throw new ProtocolError(isForbidden ? resources!.forbiddenCode : code, message, data);
    }
  }
  server.setRequestHandler('resources/list', () => guarded(() => resources.list(caller)));
  server.setRequestHandler('resources/templates/list', () => guarded(() => resources.templates(caller)));
  server.setRequestHandler('resources/read', async ({ params }) => {
    const content = await guarded(() => resources.read(caller, params.uri));
    if (!content) throw new ResourceNotFoundError(params.uri);
    return { contents: [content] };
  });
  return server;
}
