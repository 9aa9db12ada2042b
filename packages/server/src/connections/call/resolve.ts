import type { ServerView } from '../server/server-view.ts';
import type { Connection } from '../session/connection.ts';
import { SessionError } from '../session/failure.ts';
import type { CallFor, CallStep, OutboundCall } from './outbound-call.ts';
import { bridgeToolOf } from './resource-bridge.ts';

/** Finds what a definition stands for now. */
export interface Resolver {
  /** The connection, with the credentials as they are now. Rejects with a `SessionError` when they cannot be had. */
  connection(call: Pick<OutboundCall, 'server'>, callFor: CallFor): Promise<Connection>;
  /** The tools as the definition offers them; connects where there was no list yet. */
  view(server: OutboundCall['server'], connection: Connection, signal: AbortSignal): Promise<ServerView>;
}

/** Ensures that server and tool are there, and offered, before anything is sent. */
export function createResolveStep(resolver: Resolver): CallStep {
  return {
    name: 'resolve',
    async run(state) {
      const { call } = state;
      const connection = await resolver.connection(call, call.callFor);
      const bridge = bridgeToolOf(call.server, call.tool);
      if (bridge) {
        Object.assign(state, { connection, bridge, tool: bridge.tool });
        return undefined;
      }
      const view = await resolver.view(call.server, connection, call.signal);
      // A person may try a tool by hand that agents do not get.
      const tool = (call.driver === 'person' ? view.known : view.offered).get(call.tool);
      if (!tool) throw new SessionError('TOOL_NOT_FOUND', 'no', view.whyNot(call.tool));
      state.connection = connection;
      state.tool = tool;
      return undefined;
    },
  };
}
