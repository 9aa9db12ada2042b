import type { ServerDefinition, ServerRef } from '../../connections/server/definition.ts';
import { mayAnswerInPerson } from '../../kernel/access.ts';
import type { Principal } from '../../kernel/principal.ts';
import { granted, type Outcome, refused } from '../../kernel/result.ts';
import type { Store } from '../../store/store.ts';
import { findAgent } from '../../store/tables/agents.ts';
import { findPause } from '../../store/tables/pauses.ts';
import { type HasArrived, serversIn, type WaitingServer } from './sign-in.ts';
import type { SignIns } from './sign-ins.ts';

/** A server as the page shows it on which its person signs in. */
export interface VisitedServer extends WaitingServer {
  readonly ref: ServerRef;
  /** Where it is; `undefined` for a program, and for one that is not registered any more. */
  readonly host: string | undefined;
  /** With OAuth, or by a token that they paste; `undefined` where they cannot any more. */
  readonly how: 'oauth' | 'token' | undefined;
  readonly isThere: boolean;
}

export interface SignInVisit {
  readonly pauseId: string;
  readonly conversationId: string;
  /** As people know the agent. */
  readonly agent: string;
  /** `over`: nobody waits any more, as they did not want to, or it was cancelled. */
  readonly state: 'waits' | 'done' | 'over';
  readonly servers: readonly VisitedServer[];
}

/** People who come to sign in for what a conversation of theirs waits for. */
export interface SignInVisits {
  /** `foreign`: it is another person's to do, whoever sent them here (confused deputy). */
  find(
    principal: Principal,
    pauseId: string,
  ): Promise<Outcome<SignInVisit, { readonly reason: 'unknown' | 'foreign' }>>;
}

const PAUSE_ID = /^pause_\w{1,100}$/;

export function createSignInVisits(deps: {
  readonly store: Store;
  readonly registered: (ref: ServerRef) => ServerDefinition | undefined;
  readonly hasArrived: HasArrived;
  readonly signIns: Pick<SignIns, 'look'>;
}): SignInVisits {
  const { store, registered, hasArrived, signIns } = deps;

  async function visited(waiting: WaitingServer, userId: string): Promise<VisitedServer> {
    const ref = refOf(waiting.server);
    const definition = registered(ref);
    const { auth, transport } = definition ?? {};
    const how = auth?.kind === 'principal' ? (auth.signIn ? 'oauth' : 'token') : undefined;
    const host = transport?.kind === 'http' ? URL.parse(transport.url)?.host : undefined;
    return { ...waiting, ref, how, host, isThere: await hasArrived(waiting, userId) };
  }

  return {
    async find(principal, pauseId) {
      const pause = PAUSE_ID.test(pauseId) ? await findPause(store.db, pauseId) : undefined;
      if (pause?.kind !== 'SIGN_IN') return refused({ reason: 'unknown' });
      if (!mayAnswerInPerson(principal, pause)) return refused({ reason: 'foreign' });
      const { conversationId, agentId, userId, decision } = pause;
      const ended = pause.state === 'open' || decision?.verdict === 'APPROVED' ? 'done' : 'over';
      // They may come back before the news of what they have done there.
      const waits = pause.state === 'open' && !(await signIns.look(pause));
      return granted({
        ...{ pauseId, conversationId },
        agent: (await findAgent(store.db, agentId))?.name ?? agentId,
        state: waits ? 'waits' : ended,
        servers: await Promise.all(serversIn(pause).map(server => visited(server, userId))),
      });
    },
  };
}

/** `default/linear`, as it was written by `formatServerRef`. */
function refOf(server: string): ServerRef {
  const slash = server.indexOf('/');
  return { scope: server.slice(0, slash), name: server.slice(slash + 1) };
}
