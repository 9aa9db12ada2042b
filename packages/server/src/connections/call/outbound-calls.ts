import type { Clock } from '../../kernel/clock.ts';
import { sha256OfJson } from '../../kernel/digest.ts';
import type { Logger } from '../../kernel/logger.ts';
import { createScrubber, inTurn } from '../../kernel/redact.ts';
import type { References } from '../../secrets/references.ts';
import type { CredentialsProvider } from '../credential/credentials-provider.ts';
import { createPersonalAccess, isPersonal } from '../credential/personal-access.ts';
import type { AcceptedTools } from '../server/accepted-tools.ts';
import { DEFAULT_INSTANCE } from '../server/configured-instances.ts';
import { formatServerRef, type ServerDefinition, type ServerRef } from '../server/definition.ts';
import type { KeptTools } from '../server/kept-tools.ts';
import { openerOf } from '../server/literal-credentials.ts';
import { createResolveEndpoint } from '../server/resolve-endpoint.ts';
import { createViews, type ServerView, type ToolList } from '../server/server-view.ts';
import type { Connection } from '../session/connection.ts';
import { refusedAs, SessionError } from '../session/failure.ts';
import type { ConnectRequest, Pool } from '../session/pool.ts';
import { timeLimit } from '../session/time-limit.ts';
import { type BudgetLimits, type CallRate, createCallRate } from './budget.ts';
import type { CallFor, OutboundCall } from './outbound-call.ts';
import type { CallOutcome, CallRecord } from './outcome.ts';
import { createPersonalConnections } from './personal-connections.ts';
import type { Reached } from './resolve.ts';
import { runCall } from './run-call.ts';
import { callSteps } from './steps.ts';

/** Tools in one line of the log. */
const MAX_LOGGED = 20;
/** How long a turn waits for the tools of a server that nobody has reached yet. */
const FIRST_WAIT_MS = 5_000;
/** Nobody knows of a server that was down so long ago: one that is wanted is tried each minute. */
const DOWN_FOR_MS = 120_000;

/** Scope of the servers that documents of agents name by their address. No instance can be called so. */
export const MCPCALLS_SCOPE = '_mcpcalls';

/** The one way out to tools of other servers. */
export interface OutboundCalls {
  /** Resolves with what the call came to; rejects with the reason of its signal. */
  call(call: OutboundCall): Promise<CallOutcome>;
  /**
   * The connection a definition stands for now: a registered server is where it is registered to be, whatever the definition says. Rejects with a
   * `SessionError` when its credentials cannot be had, and when it was removed.
   */
  connection(server: ServerDefinition, callFor: CallFor): Promise<Connection>;
  /**
   * The tools that a definition offers to calls with this turn, as the first of them has found them (W-21). A server that has never been there is
   * waited for, a little; one that is down is not, and is tried meanwhile (W-11). Rejects with a `SessionError` when it is not there, and
   * with the reason of the signal.
   */
  offered(call: Pick<OutboundCall, 'server' | 'callFor' | 'turn' | 'signal'>): Promise<ServerView>;
  /** The tools of a server that each person reaches by themselves, for who has not connected to it. */
  standIn(server: ServerDefinition): ServerView;
  /** Counts a call that an agent makes elsewhere among its calls of tools: see `BudgetLimits`. */
  readonly tooOften: CallRate;
  /** The tools as they were listed last; `undefined` before the first time. */
  listed(server: ServerDefinition, connection: Connection): ServerView | undefined;
}

type Listing = Pick<OutboundCall, 'server' | 'turn' | 'signal'>;
export function createOutboundCalls(deps: {
  readonly pool: Pool;
  readonly references: Pick<References, 'compile' | 'resolve'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: BudgetLimits;
  readonly accepted: Pick<AcceptedTools, 'of' | 'first'>;
  readonly kept: KeptTools;
  /** Where people's own credentials come from, by instance. */
  readonly credentialsOf: (scope: string) => CredentialsProvider;
  /** May the agent use what is this person's alone? */
  readonly actsFor: (agentId: string, userId: string) => Promise<boolean>;
  /** A registered server as it is defined now. */
  readonly registered: (ref: ServerRef) => ServerDefinition | undefined;
  /** Has `registered` know what the store holds at this moment, where other nodes may have changed it. */
  readonly reconcile: (scope: string) => Promise<void>;
  /** Asked with the address before every connection; `undefined` where nobody checks (W-63). */
  readonly checkOf: (scope: string) => ((url: string) => Promise<void>) | undefined;
  /** Told of every call. */
  readonly onCall: (record: CallRecord, callFor: CallFor) => void;
}): OutboundCalls {
  const { pool, references, clock, logger, limits, accepted, kept, registered, reconcile, checkOf, onCall } =
    deps;
  const resolveEndpoint = createResolveEndpoint(references);
  const viewOf = createViews();
  /** By turn and connection: the lists that the turn goes by (W-21). */
  const turns = new WeakMap<object, Map<Connection, ToolList>>();
  /** By turn and server: what those of its people who are not connected have been offered. */
  const standIns = new WeakMap<object, Map<string, ServerView>>();
  /** What was said of tools that are not used. */
  const unused = new WeakMap<Connection, string>();
  /** Since when those that did not come in time are waited for no more, in epoch ms. */
  const late = new WeakMap<Connection, number>();
  /** What the definitions of documents stood for last. */
  const literal = new WeakMap<ServerDefinition, Connection>();

  const people = createPersonalConnections({
    ...{ pool, kept, accepted, registered, viewOf, checkAddress },
    findAccess: createPersonalAccess({ credentialsOf: deps.credentialsOf, actsFor: deps.actsFor, logger }),
    listed: (server, from) => listed(server, from),
  });

  async function connection(server: ServerDefinition, callFor: CallFor): Promise<Connection> {
    return (await reached(server, callFor)).connection;
  }

  async function reached(server: ServerDefinition, callFor: CallFor): Promise<Reached> {
    const isLiteral = isInDocument(server.ref);
    const now = isLiteral ? server : registered(server.ref);
    if (!now) throw removed(server.ref);
    const agentId = opensFor(now, callFor);
    const { endpoint, scrub } = await resolveEndpoint(now, { agentId }).catch(
      refusedAs('AUTHENTICATION_FAILED'),
    );
    // Meanwhile it may have been removed: what is asked for now is kept alive for some time.
    if (!isLiteral && registered(server.ref) !== now) return reached(server, callFor);
    if (isPersonal(now)) {
      const found = await people.reach(now, callFor, { endpoint, scrub });
      return registered(now.ref) === now ? found() : reached(server, callFor);
    }
    const { scope } = now.ref;
    const owner = ownerOf(now, callFor);
    const name = formatServerRef(now.ref);
    const connection = pool.connection({
      ...{ endpoint, scrub, scope, name, owner, connectTimeoutMs: now.connectTimeoutMs },
      // Looked up each time: the configuration may have another one by then.
      check: endpoint.kind === 'http' ? () => checkAddress(scope, endpoint.url) : undefined,
    });
    if (isLiteral) {
      const before = literal.get(server);
      literal.set(server, connection);
      // Its credential is another now (attack 20).
      if (before && before !== connection) void pool.retire(before, connection);
    }
    return {
      ...{ connection, scrub: inTurn(scrub, connection.scrub), definition: now },
      url: endpoint.kind === 'http' ? endpoint.url : undefined,
      identity: () => sha256OfJson([name, owner?.who ?? null, endpoint]),
    };
  }

  /** What the platform's own check refuses is out of reach for documents, too: whoever writes them does not run the platform. */
  async function checkAddress(scope: string, url: string): Promise<void> {
    const check = checkOf(scope === MCPCALLS_SCOPE ? DEFAULT_INSTANCE : scope);
    await check?.(url).catch(refusedAs('SERVER_UNAVAILABLE'));
  }

  function toolListOf(server: ServerDefinition, from: Connection): ToolList | undefined {
    const { listed: tools, mirrorsArguments } = from;
    return tools && { tools, mirrorsArguments, accepted: accepted.of(server.ref) };
  }

  function listed(server: ServerDefinition, from: Connection): ServerView | undefined {
    const list = toolListOf(server, from);
    return list && viewOf(server, list);
  }

  /** The list as it is now, with what was accepted of it. */
  async function freshList({ server, signal }: Listing, from: Connection): Promise<ToolList> {
    if (!from.facts) {
      // A server that comes back may have other tools. One that does not is told of when the call is sent.
      await from.ready(signal).catch(error => {
        if (!from.listed || signal.aborted) throw error;
      });
    }
    if (!isInDocument(server.ref) && !accepted.of(server.ref)?.size) {
      const { known } = listed(server, from)!;
      await accepted.first(server.ref, [...known.values()]).catch(error =>
        logger.error('What was accepted of an MCP server cannot be read', {
          server: formatServerRef(server.ref),
          error,
        }),
      );
    }
    const list = toolListOf(server, from)!;
    warnOfUnused(server, from, viewOf(server, list).quarantined);
    return list;
  }

  /** Said once, until it is about other tools. */
  function warnOfUnused(
    { ref }: ServerDefinition,
    from: Connection,
    quarantined: ServerView['quarantined'],
  ): void {
    const tools = quarantined.slice(0, MAX_LOGGED).map(({ name, reason }) => `${name}: ${reason}`);
    const said = JSON.stringify(tools);
    if (said === (unused.get(from) ?? '[]')) return;
    unused.set(from, said);
    if (tools.length > 0)
      logger.warn('Tools of an MCP server are not used', { server: formatServerRef(ref), tools });
  }

  /** Calls of one turn go by the list that the first of them has found. */
  async function listFor(call: Listing, from: Connection): Promise<ToolList> {
    if (!call.turn) return freshList(call, from);
    let lists = turns.get(call.turn);
    if (!lists) {
      lists = new Map();
      turns.set(call.turn, lists);
    }
    const list = lists.get(from) ?? (await freshList(call, from));
    lists.set(from, list);
    return list;
  }

  const tooOften = createCallRate(limits);
  const steps = callSteps({
    clock,
    tooOften,
    resolver: {
      async reach({ server, callFor, approval }) {
        // An approval is of the server as it was then, and news of a change may still be under way to this node (attack 51).
        if (approval && !isInDocument(server.ref))
          await reconcile(server.ref.scope).catch(refusedAs('SERVER_UNAVAILABLE'));
        const found = await reached(server, callFor);
        const token = await tokenFor(found, callFor);
        if (!token) return found;
        const { value, headers } = token;
        return { ...found, headers, scrub: inTurn(found.scrub, createScrubber([value])) };
      },
      view: async (call, from) => viewOf(call.server, await listFor(call, from)),
      async ownView({ server, signal }, from) {
        await from.ready(signal);
        return listed(server, from)!;
      },
      latest({ server }, from) {
        const view = listed(server, from);
        const { gated } = isInDocument(server.ref) ? server : (registered(server.ref) ?? server);
        return view && { view, gated };
      },
    },
  });

  return {
    connection,
    tooOften,
    listed,
    async offered(call) {
      const { server, turn, signal } = call;
      const before = turn && standIns.get(turn)?.get(formatServerRef(server.ref));
      if (before) return before;
      try {
        const { connection: from } = await reached(server, call.callFor);
        if (turn && !turns.get(turn)?.has(from)) await isThere(from, signal);
        return viewOf(server, await listFor(call, from));
      } catch (thrown) {
        if (server.auth.kind !== 'principal' || !isAboutCredential(thrown)) throw thrown;
        return standInFor(server, turn);
      }
    },
    standIn: people.standIn,
    call: call => runCall(steps, call, { clock, onCall: (record, reason) => note(call, record, reason) }),
  };

  /** The same within a turn, also when its person connects meanwhile (W-21). */
  function standInFor(server: ServerDefinition, turn: object | undefined): ServerView {
    const view = people.standIn(server);
    if (!turn) return view;
    const ofTurn = standIns.get(turn) ?? new Map<string, ServerView>();
    standIns.set(turn, ofTurn.set(formatServerRef(server.ref), view));
    return view;
  }

  /** Rejects with a `SessionError` where a turn should do without the server. */
  async function isThere(from: Connection, signal: AbortSignal): Promise<void> {
    if (from.facts) return;
    const { trouble } = from;
    const since = trouble?.at ?? late.get(from) ?? Number.NEGATIVE_INFINITY;
    if (since > clock.now() - DOWN_FOR_MS) {
      // It may be back for a later turn.
      void from.ready().catch(() => undefined);
      throw trouble?.error ?? notYet();
    }
    const limit = timeLimit(clock, FIRST_WAIT_MS, notYet, signal);
    try {
      await from.ready(limit.signal);
    } catch (thrown) {
      signal.throwIfAborted();
      if (!from.facts) late.set(from, clock.now());
      throw thrown;
    } finally {
      limit.clear();
    }
  }

  /** A server that is down, or a tool that is not there, is a warning for whoever runs the platform (E-102, platform.md 9.2). */
  function note({ callFor }: OutboundCall, record: CallRecord, reason: string | undefined): void {
    onCall(record, callFor);
    if (reason === undefined) return;
    const { agentId, conversationId } = callFor;
    logger.warn('A call of an MCP tool has no answer', { ...record, reason, agentId, conversationId });
  }
}

/** What the call shows of its caller, where the server is called as them. Rejects where that cannot be: nothing is sent instead (E-90). */
async function tokenFor(
  { definition: { auth }, url }: Reached,
  { callerToken }: CallFor,
): Promise<{ readonly value: string; readonly headers: Readonly<Record<string, string>> } | undefined> {
  if (auth.kind !== 'caller') return undefined;
  const value = await callerToken?.(new URL(url!));
  if (value !== undefined) return { value, headers: { authorization: `${auth.scheme} ${value}` } };
  throw new SessionError(
    'AUTHENTICATION_FAILED',
    'no',
    'it is called as whoever talks to the agent, and nobody is there whose identity it may get: that goes to this platform’s own address only, from their own request, for an agent of theirs or of an admin',
  );
}

function notYet(): SessionError {
  return new SessionError('SERVER_UNAVAILABLE', 'no', 'it is not connected yet');
}

function isAboutCredential(thrown: unknown): boolean {
  return thrown instanceof SessionError && thrown.kind === 'AUTHENTICATION_FAILED';
}

function isInDocument({ scope }: ServerRef): boolean {
  return scope === MCPCALLS_SCOPE;
}

function removed(ref: ServerRef): SessionError {
  return new SessionError('SERVER_UNAVAILABLE', 'no', `there is no server ${formatServerRef(ref)} any more`);
}

/** For whom the secrets of a definition are opened: a registered server has its own, one of an agent's documents those of the agent. */
function opensFor({ ref }: ServerDefinition, { agentId }: CallFor): string {
  return agentId !== undefined && isInDocument(ref) ? agentId : openerOf(ref);
}

function ownerOf(
  { ref, transport }: ServerDefinition,
  { userId, conversationId }: CallFor,
): ConnectRequest['owner'] {
  if (transport.kind !== 'stdio' || transport.isolation === 'shared') return undefined;
  const isOfConversation = transport.isolation === 'conversation' && conversationId !== undefined;
  const who = isOfConversation ? `conversation ${conversationId}` : `person ${userId}`;
  return { server: formatServerRef(ref), who };
}
