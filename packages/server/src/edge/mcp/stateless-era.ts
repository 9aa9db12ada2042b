import { createMcpHandler } from '@modelcontextprotocol/server';
import type { Caller, McpDoor } from './door.ts';
import { answer, type Exchange, prepareCall } from './exchange.ts';
import type { FastPath } from './fast-path.ts';
import { asksByResult } from './forms.ts';
import { acceptsStream, carriesStatelessHeaders } from './headers.ts';
import { buildServer } from './server.ts';

/** Revision 2026-07-28, carried by the SDK's handler. Closing the stream cancels. */
export function createStatelessEra<C extends Caller>(
  door: McpDoor<C>,
  fastPath: FastPath<C>,
  keepAliveMs: number,
) {
  /** How a request finds its exchange again inside the SDK's factory. */
  const exchanges = new WeakMap<Request, Exchange<C>>();
  const factory = ({ requestInfo }: { requestInfo?: Request }) =>
    buildServer(door, exchanges.get(requestInfo!)!);
  const plain = createMcpHandler(factory, { legacy: 'reject', keepAliveMs });
  const streamed = createMcpHandler(factory, { legacy: 'reject', keepAliveMs, responseMode: 'sse' });

  return {
    async serve(request: Request, body: unknown, caller: C): Promise<Response> {
      const fast = fastPath.serve({ request, message: body, caller, era: 'stateless', mayStream: true });
      if (fast) return fast;
      const outcome = carriesStatelessHeaders(request.headers, body)
        ? await prepareCall(door, body, caller, 'stateless')
        : { prepared: undefined };
      if ('refusal' in outcome) return outcome.refusal;
      const { prepared } = outcome;
      const streaming = prepared?.streams === true && acceptsStream(request.headers);
      const exchange: Exchange<C> = {
        caller,
        prepared,
        streaming,
        cancellation: undefined,
        asking: () => asksByResult(body),
        started: false,
        lateStatus: undefined,
      };
      exchanges.set(request, exchange);
      const handler = streaming ? streamed : plain;
      const response = await answer(exchange, () => handler.fetch(request, { parsedBody: body }));
      fastPath.learn(body, response);
      return response;
    },

    async close(): Promise<void> {
      await Promise.all([plain.close(), streamed.close()]);
    },
  };
}
