import type { Clock } from '../../kernel/clock.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { References } from '../../secrets/references.ts';
import type { ServerDefinition, ServerRef } from '../server/definition.ts';
import { openerOf } from '../server/literal-credentials.ts';
import { resolveEndpoint } from '../server/resolve-endpoint.ts';
import { type ServerView, viewOf } from '../server/server-view.ts';
import type { Connection } from '../session/connection.ts';
import { SessionError } from '../session/failure.ts';
import type { Pool } from '../session/pool.ts';
import type { ToolSnapshot } from '../tool/pinned-tools.ts';
import type { BudgetLimits } from './budget.ts';
import type { CallFor, OutboundCall } from './outbound-call.ts';
import type { CallOutcome, CallRecord } from './outcome.ts';
import { runCall } from './run-call.ts';
import { callSteps } from './steps.ts';

/** Scope of the servers that documents of agents name by their address. */
export const MCPCALLS_SCOPE = 'mcpcalls';

/** The one way out to tools of other servers. */
export interface OutboundCalls {
  /** Resolves with what the call came to; rejects with the reason of its signal. */
  call(call: OutboundCall): Promise<CallOutcome>;
  /** The connection a definition stands for now. Rejects with a `SessionError` when its credentials cannot be had. */
  connection(server: ServerDefinition, callFor: CallFor): Promise<Connection>;
  /** The tools as they were listed last; `undefined` before the first time. */
  listed(server: ServerDefinition, connection: Connection): ServerView | undefined;
}

export function createOutboundCalls(deps: {
  readonly pool: Pool;
  readonly references: Pick<References, 'compile' | 'resolve'>;
  readonly clock: Clock;
  readonly limits: BudgetLimits;
  /** What was accepted of a server's tools. */
  readonly acceptedOf: (ref: ServerRef) => ReadonlyMap<string, ToolSnapshot> | undefined;
  /** Asked with the address before every connection; `undefined` where nobody checks (W-63). */
  readonly checkOf: (scope: string) => ((url: string) => Promise<void>) | undefined;
  /** Told of every call. */
  readonly onCall: (record: CallRecord, callFor: CallFor) => void;
  readonly logger: Logger;
}): OutboundCalls {
  const { pool, references, clock, limits, checkOf, onCall, logger } = deps;
  const views = new WeakMap<readonly unknown[], WeakMap<ServerDefinition, MadeView>>();

  async function connection(server: ServerDefinition, callFor: CallFor): Promise<Connection> {
    const { scope } = server.ref;
    const endpoint = await resolveEndpoint(server, references, { agentId: opensFor(server, callFor) }).catch(
      credentialsMissing,
    );
    const check = endpoint.kind === 'http' ? checkOf(scope) : undefined;
    return pool.connection({
      ...{ endpoint, scope },
      owner: ownerOf(server, callFor),
      connectTimeoutMs: server.connectTimeoutMs,
      ...(check && endpoint.kind === 'http' && { check: () => check(endpoint.url) }),
    });
  }

  function listed(server: ServerDefinition, from: Connection): ServerView | undefined {
    const list = from.listed;
    if (!list) return undefined;
    let ofList = views.get(list);
    if (!ofList) {
      ofList = new WeakMap();
      views.set(list, ofList);
    }
    const accepted = deps.acceptedOf(server.ref);
    const made = ofList.get(server);
    if (made && made.accepted === accepted) return made.view;
    const mirrorsArguments = server.transport.kind === 'http' && from.facts?.era === 'modern';
    const view = viewOf(server, list, { mirrorsArguments, accepted });
    ofList.set(server, { view, accepted });
    return view;
  }

  const steps = callSteps({
    clock,
    limits,
    resolver: {
      connection: (call, callFor) => connection(call.server, callFor),
      async view(server, from, signal) {
        if (!from.listed) await from.ready(signal);
        return listed(server, from)!;
      },
    },
  });

  return {
    connection,
    listed,
    call: call => runCall(steps, call, { clock, onCall: (record, reason) => note(call, record, reason) }),
  };

  /** A server that is down, or a tool that is not there, is a warning for whoever runs the platform (E-102, platform.md 9.2). */
  function note({ callFor }: OutboundCall, record: CallRecord, reason: string | undefined): void {
    onCall(record, callFor);
    if (reason === undefined) return;
    const { agentId, conversationId } = callFor;
    logger.warn('A call of an MCP tool has no answer', { ...record, reason, agentId, conversationId });
  }
}

/** A view holds for one list, one definition, and what was accepted. */
interface MadeView {
  readonly view: ServerView;
  readonly accepted: ReadonlyMap<string, ToolSnapshot> | undefined;
}

/** For whom the secrets of a definition are opened: a registered server has its own, one of an agent's documents those of the agent. */
function opensFor({ ref }: ServerDefinition, { agentId }: CallFor): string {
  return agentId !== undefined && ref.scope === MCPCALLS_SCOPE ? agentId : openerOf(ref);
}

function ownerOf({ transport }: ServerDefinition, { userId, conversationId }: CallFor): string | undefined {
  if (transport.kind !== 'stdio' || transport.isolation === 'shared') return undefined;
  return transport.isolation === 'person' ? `person ${userId}` : `conversation ${conversationId ?? userId}`;
}

function credentialsMissing(thrown: unknown): never {
  if (!(thrown instanceof PlatformError)) throw thrown;
  throw new SessionError('AUTHENTICATION_FAILED', 'no', thrown.message, { cause: thrown });
}
