import type { ServerDefinition } from '../server/definition.ts';
import type { ServerView } from '../server/server-view.ts';
import type { Connection } from '../session/connection.ts';
import { SessionError } from '../session/failure.ts';
import { readAnnotations } from '../tool/annotations.ts';
import { connected, isConnectTool } from './connect-tool.ts';
import type { CallStep, ListedTool, OutboundCall } from './outbound-call.ts';
import { bridgeToolOf } from './resource-bridge.ts';

/** A connection with the credentials as they are now. */
export interface Reachable {
  readonly connection: Connection;
  /** Takes the credentials out of a text; `undefined` where there are none. */
  readonly scrub: ((text: string) => string) | undefined;
  /** The definition as it is now: a registered one may be another since the call was made up. */
  readonly definition: ServerDefinition;
  /** A digest of where that is, and of what it is reached with. */
  readonly identity: () => string;
  /** Headers of this call alone, with the identity of the caller (E-91, E-93). */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface Reached extends Reachable {
  /** Of a server behind an address. */
  readonly url: string | undefined;
}

/** Finds what a definition stands for now. */
export interface Resolver {
  /** Rejects with a `SessionError` when the credentials cannot be had. */
  reach(call: OutboundCall): Promise<Reachable>;
  /** The tools as the definition offers them; connects where there is no connection. */
  view(call: OutboundCall, connection: Connection): Promise<ServerView>;
  /** The tools as the person has them who has just connected. */
  ownView(call: OutboundCall, connection: Connection): Promise<ServerView>;
  /** The same by the list, and the definition, that are the latest now; `undefined` where there is none. */
  latest(
    call: OutboundCall,
    connection: Connection,
  ): { readonly view: ServerView; readonly gated: ServerDefinition['gated'] } | undefined;
}

/** Ensures that server and tool are there, and offered, before anything is sent. */
export function createResolveStep(resolver: Resolver): CallStep {
  return {
    name: 'resolve',
    async run(state) {
      const { call } = state;
      const { connection, scrub, definition, identity, headers } = await resolver.reach(call);
      const { gated } = definition;
      Object.assign(state, { connection, scrub, identity, headers });
      if (isConnectTool(call.server, call.tool)) {
        const own = await resolver.ownView(call, connection);
        if (!own.known.has(call.tool)) return connected(call.server, own);
      }
      const bridge = bridgeToolOf(call.server, call.tool);
      if (bridge) {
        const { tool } = bridge;
        const standing = { annotations: readAnnotations(tool), cameLater: false };
        Object.assign(state, { bridge, tool, listed: { tool, gated, ...standing } });
        return undefined;
      }
      const view = await resolver.view(call, connection);
      state.listed = findIn(view, call, gated);
      if (!state.listed) throw new SessionError('TOOL_NOT_FOUND', 'no', view.whyNot(call.tool));
      state.tool = state.listed.tool;
      state.latest = () => {
        const now = resolver.latest(call, connection);
        if (now?.view.held.has(call.tool))
          throw new SessionError('TOOL_NOT_FOUND', 'no', now.view.whyNot(call.tool));
        return now && findIn(now.view, call, now.gated);
      };
      return undefined;
    },
  };
}

/** A person may try a tool by hand that agents do not get. */
function findIn(
  view: ServerView,
  { driver, tool: name }: OutboundCall,
  gated: ServerDefinition['gated'],
): ListedTool | undefined {
  const tool = (driver === 'person' ? view.known : view.offered).get(name);
  return tool && { tool, gated, ...view.standing(tool) };
}
