import { sha256OfJson } from '../../kernel/digest.ts';
import { createScrubber, inTurn } from '../../kernel/redact.ts';
import type { FindPersonalAccess, PersonalServer } from '../credential/personal-access.ts';
import type { PersonalHeader } from '../credential/personal-header.ts';
import type { AcceptedTools } from '../server/accepted-tools.ts';
import { formatServerRef, type ServerDefinition, type ServerRef } from '../server/definition.ts';
import type { KeptTools } from '../server/kept-tools.ts';
import type { ResolvedEndpoint } from '../server/resolve-endpoint.ts';
import type { ServerView, ToolList } from '../server/server-view.ts';
import type { Connection } from '../session/connection.ts';
import type { Pool } from '../session/pool.ts';
import { connectView } from './connect-tool.ts';
import type { CallFor } from './outbound-call.ts';
import type { Reached } from './resolve.ts';

/** Connections of people, each made with the credential of one of them. */
export interface PersonalConnections {
  /**
   * Finds the credential of the person; what this resolves with makes the connection, at once. Rejects with a `SessionError`: `SignInNeeded` where they have
   * none.
   */
  reach(server: PersonalServer, callFor: CallFor, resolved: ResolvedEndpoint): Promise<() => Reached>;
  /** The tools for who has not connected: those that others have seen, else the one that connects (W-82, W-83). */
  standIn(server: ServerDefinition): ServerView;
}

export function createPersonalConnections(deps: {
  readonly findAccess: FindPersonalAccess;
  readonly pool: Pick<Pool, 'connection'>;
  readonly kept: KeptTools;
  readonly accepted: Pick<AcceptedTools, 'of'>;
  readonly registered: (ref: ServerRef) => ServerDefinition | undefined;
  readonly viewOf: (definition: ServerDefinition, list: ToolList) => ServerView;
  /** As it was listed last. */
  readonly listed: (server: ServerDefinition, from: Connection) => ServerView | undefined;
  readonly checkAddress: (scope: string, url: string) => Promise<void>;
}): PersonalConnections {
  const { findAccess, pool, kept, accepted, registered, viewOf, listed, checkAddress } = deps;
  const headers = new WeakMap<Connection, PersonalHeader>();
  const followed = new WeakSet<Connection>();

  /** What each person's list has is kept for the others. */
  function follow({ ref }: ServerDefinition, from: Connection): void {
    if (followed.has(from)) return;
    followed.add(from);
    let last: readonly unknown[] | undefined;
    from.subscribe(() => {
      const server = registered(ref);
      if (!server || from.listed === last) return;
      last = from.listed;
      const view = listed(server, from);
      if (view) void kept.keep(ref, [...view.known.values()]);
    });
  }

  return {
    async reach(server, callFor, resolved) {
      const { found, owner, endpoint, header } = await findAccess(server, callFor, resolved.endpoint);
      const { ref, connectTimeoutMs } = server;
      const name = formatServerRef(ref);
      // The pool takes out what the header shows.
      const scrub = header ? resolved.scrub : inTurn(resolved.scrub, createScrubber([found.token]));
      return () => {
        const connection = pool.connection({
          ...{ endpoint, scrub, scope: ref.scope, name, owner, connectTimeoutMs, credential: header },
          check: endpoint.kind === 'http' ? () => checkAddress(ref.scope, endpoint.url) : undefined,
        });
        const first = headers.get(connection);
        first?.use(found);
        if (header && !first) headers.set(connection, header);
        follow(server, connection);
        return {
          ...{ connection, scrub: inTurn(scrub, connection.scrub), definition: server },
          url: endpoint.kind === 'http' ? endpoint.url : undefined,
          // With another credential that the person gives it is not what was approved; with one that was renewed it is (attack 51).
          identity: () => sha256OfJson([name, owner, resolved.endpoint]),
        };
      };
    },

    standIn(server) {
      const tools = kept.of(server.ref);
      if (!tools) return connectView(server);
      return viewOf(server, { tools, mirrorsArguments: false, accepted: accepted.of(server.ref) });
    },
  };
}
