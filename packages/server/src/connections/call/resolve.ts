import type { ServerView } from '../server/server-view.ts';
import type { Connection } from '../session/connection.ts';
import { SessionError } from '../session/failure.ts';
import type { CallStep, OutboundCall } from './outbound-call.ts';
import { bridgeToolOf } from './resource-bridge.ts';

/** A connection with the credentials as they are now. */
export interface Reachable {
  readonly connection: Connection;
  /** Takes the credentials out of a text; `undefined` where there are none. */
  readonly scrub: ((text: string) => string) | undefined;
}

/** Finds what a definition stands for now. */
export interface Resolver {
  /** Rejects with a `SessionError` when the credentials cannot be had. */
  reach(call: OutboundCall): Promise<Reachable>;
  /** The tools as the definition offers them; connects where there is no connection. */
  view(call: OutboundCall, connection: Connection): Promise<ServerView>;
  /** Throws a `SessionError` where the tool is held back in the list that is the latest now. */
  refuseHeld(call: OutboundCall, connection: Connection): void;
}

/** Ensures that server and tool are there, and offered, before anything is sent. */
export function createResolveStep(resolver: Resolver): CallStep {
  return {
    name: 'resolve',
    async run(state) {
      const { call } = state;
      const { connection, scrub } = await resolver.reach(call);
      state.connection = connection;
      state.scrub = scrub;
      const bridge = bridgeToolOf(call.server, call.tool);
      if (bridge) {
        Object.assign(state, { bridge, tool: bridge.tool });
        return undefined;
      }
      const view = await resolver.view(call, connection);
      // A person may try a tool by hand that agents do not get.
      const tool = (call.driver === 'person' ? view.known : view.offered).get(call.tool);
      if (!tool) throw new SessionError('TOOL_NOT_FOUND', 'no', view.whyNot(call.tool));
      state.tool = tool;
      state.onlyReads = view.onlyReads(call.tool);
      state.beforeSend = () => resolver.refuseHeld(call, connection);
      return undefined;
    },
  };
}
