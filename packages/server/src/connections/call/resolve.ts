import type { ServerView } from '../server/server-view.ts';
import type { Connection } from '../session/connection.ts';
import { SessionError } from '../session/failure.ts';
import type { CallStep, OutboundCall } from './outbound-call.ts';
import { bridgeToolOf } from './resource-bridge.ts';

/** Finds what a definition stands for now. */
export interface Resolver {
  /** The connection, with the credentials as they are now. Rejects with a `SessionError` when they cannot be had. */
  connection(call: OutboundCall): Promise<Connection>;
  /** The tools as the definition offers them; connects where there is no connection. */
  view(call: OutboundCall, connection: Connection): Promise<ServerView>;
}

/** Ensures that server and tool are there, and offered, before anything is sent. */
export function createResolveStep(resolver: Resolver): CallStep {
  return {
    name: 'resolve',
    async run(state) {
      const { call } = state;
      const connection = await resolver.connection(call);
      const bridge = bridgeToolOf(call.server, call.tool);
      if (bridge) {
        Object.assign(state, { connection, bridge, tool: bridge.tool });
        return undefined;
      }
      const view = await resolver.view(call, connection);
      // A person may try a tool by hand that agents do not get.
      const tool = (call.driver === 'person' ? view.known : view.offered).get(call.tool);
      if (!tool) throw new SessionError('TOOL_NOT_FOUND', 'no', view.whyNot(call.tool));
      state.connection = connection;
      state.tool = tool;
      state.onlyReads = view.onlyReads(call.tool);
      return undefined;
    },
  };
}
