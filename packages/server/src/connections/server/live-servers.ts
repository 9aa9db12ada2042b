import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../kernel/clock.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';
import { createQueue } from '../../kernel/queue.ts';
import type { Store } from '../../store/store.ts';
import type { CallFor } from '../call/outbound-call.ts';
import type { OutboundCalls } from '../call/outbound-calls.ts';
import { isPersonal } from '../credential/personal-access.ts';
import { backoffMs } from '../session/backoff.ts';
import type { Connection } from '../session/connection.ts';
import { SessionError, sessionError } from '../session/failure.ts';
import type { Pool } from '../session/pool.ts';
import { digestOf, snapshotOf } from '../tool/pinned-tools.ts';
import type { AcceptedTools } from './accepted-tools.ts';
import { formatServerRef, type ServerDefinition, type ServerRef } from './definition.ts';
import type { KeptTools } from './kept-tools.ts';
import type { Registry } from './registry.ts';
import type { ServerHealth, ServerProblem, ServersRuntime } from './runtime.ts';
import type { ServerView } from './server-view.ts';
import { answerOf, healthOf, toolsOf } from './shown-server.ts';

/** Programs that are started at a time: when the platform starts, hundreds may be due. */
const STARTS_AT_ONCE = 8;
/** When the store is asked again what was accepted. */
const READ_AGAIN_MS = 5_000;
/** Between two looks that nobody asked for. */
const MIN_PAUSE_MS = 500;
/** Names of tools in a line of the log. */
const MAX_LOGGED = 20;
const NO_TOOLS: ServerView['offered'] = new Map();

export interface LiveServers extends ServersRuntime {
  /** Begins to connect, to each server by itself, and follows the registry from now on; waits for none of them (W-10, W-11). */
  start(): void;
  close(): void;
}

interface Live {
  definition: ServerDefinition;
  /** The latest look at what the definition stands for: an earlier one that ends later says nothing any more. */
  look: number;
  /** Ends with that look. */
  looking: Promise<void>;
  connection: Connection | undefined;
  unsubscribe: () => void;
  /** Why there is no connection to try: its credentials cannot be had. */
  problem: ServerProblem | undefined;
  /** As told last. */
  offered: ServerView['offered'] | undefined;
  changes: ServerView['changes'];
  shortcomings: readonly string[];
}

/** Keeps the registered servers connected, and knows how they are. */
export function createLiveServers(deps: {
  readonly registry: Pick<Registry, 'list' | 'subscribe'>;
  readonly calls: OutboundCalls;
  readonly accepted: AcceptedTools;
  readonly kept: KeptTools;
  readonly pool: Pick<Pool, 'retire' | 'retireOf' | 'stderrOf'>;
  readonly store: Pick<Store, 'subscribe'>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  /** Told whenever the tools a server offers are others: how many, and 0 while it is down (W-106 to W-109); `undefined` when it is removed. */
  readonly onTools: (tools: {
    readonly mcp: string;
    readonly server: string;
    readonly count: number | undefined;
  }) => void;
}): LiveServers {
  const { registry, calls, accepted, kept, pool, clock, random, logger, onTools } = deps;
  const servers = new Map<string, Live>();
  const start = createQueue(STARTS_AT_ONCE);
  const closed = new AbortController();
  const stops: (() => void)[] = [];

  const liveOf = (ref: ServerRef) => servers.get(formatServerRef(ref));
  const viewOf = ({ definition, connection }: Live): ServerView | undefined => {
    if (isPersonal(definition)) return calls.standIn(definition);
    return connection && calls.listed(definition, connection);
  };
  /** People reach it by themselves, and nobody has yet: there is only the tool that connects. */
  const isUntouched = ({ definition }: Live) => isPersonal(definition) && !kept.of(definition.ref);

  function begin(definition: ServerDefinition): void {
    const key = formatServerRef(definition.ref);
    const live = servers.get(key) ?? newLive(definition);
    if (live.definition !== definition) retirePeople(live);
    live.definition = definition;
    servers.set(key, live);
    look(live);
  }

  /** Looks again at what a server stands for: the connection it has, and what was accepted of it. */
  function look(live: Live, { accepts = false } = {}): void {
    live.look += 1;
    const { look: mine } = live;
    live.looking = lookOnce(live, () => live.look === mine, accepts);
  }

  /** Connections of people to what the server was. */
  function retirePeople({ definition }: Live): void {
    const server = formatServerRef(definition.ref);
    if (isPersonal(definition)) void pool.retireOf(owner => owner.server === server);
  }

  async function lookOnce(live: Live, isLatest: () => boolean, accepts: boolean): Promise<void> {
    const { ref } = live.definition;
    if (accepts || !accepted.of(ref)) {
      await accepted.read(ref).catch(error => {
        logger.error('What was accepted of an MCP server cannot be read', { ...nameOf(live), error });
        lookAgain(live, isLatest, READ_AGAIN_MS);
      });
    }
    if (isPersonal(live.definition)) {
      await kept.read(ref).catch(error => {
        logger.error('The kept tools of an MCP server cannot be read', { ...nameOf(live), error });
        lookAgain(live, isLatest, READ_AGAIN_MS);
      });
      if (!isLatest()) return;
      live.problem = undefined;
      unfollow(live);
      return changed(live);
    }
    try {
      const connection = await calls.connection(live.definition, NOBODY);
      if (!isLatest()) return;
      live.problem = undefined;
      follow(live, connection, isLatest);
    } catch (thrown) {
      if (isLatest()) failed(live, thrown, isLatest);
    }
  }

  function failed(live: Live, thrown: unknown, isLatest: () => boolean): void {
    const { kind, message } = sessionError(thrown);
    const failures = (live.problem?.failures ?? 0) + 1;
    const at = clock.now();
    const retryAt = at + backoffMs(failures, random);
    live.problem = { kind, message, at, failures, retryAt };
    logger.warn('An MCP server cannot be connected to', { ...nameOf(live), reason: message });
    // It is certain that the credentials are gone; a store that does not answer says nothing about them.
    if (thrown instanceof SessionError) unfollow(live);
    changed(live);
    lookAgain(live, isLatest, retryAt - at);
  }

  function lookAgain(live: Live, isLatest: () => boolean, afterMs: number): void {
    clock.sleep(Math.max(afterMs, MIN_PAUSE_MS), closed.signal).then(
      () => isLatest() && look(live),
      () => undefined,
    );
  }

  function follow(live: Live, connection: Connection, isLatest: () => boolean): void {
    if (live.connection !== connection) {
      unfollow(live, connection);
      live.connection = connection;
      live.unsubscribe = connection.subscribe(() => changed(live));
    }
    if (live.definition.transport.kind === 'http') connection.keep();
    else if (!connection.facts && !connection.kept) void startProgram(live, connection, isLatest);
    changed(live);
  }

  /** A process of one person or one conversation ends when nobody needs it; this one shows whether it starts, and what its tools are. */
  async function startProgram(live: Live, connection: Connection, isLatest: () => boolean): Promise<void> {
    const isStarted = await start(() => connection.ready()).then(
      () => true,
      () => false,
    );
    if (live.connection !== connection) return;
    if (!isForOne(live.definition)) connection.keep();
    else if (!isStarted) lookAgain(live, isLatest, (connection.trouble?.retryAt ?? 0) - clock.now());
  }

  function unfollow(live: Live, successor?: Connection): void {
    const { connection } = live;
    live.unsubscribe();
    live.unsubscribe = () => undefined;
    live.connection = undefined;
    if (connection && !isShared(connection)) void pool.retire(connection, successor);
  }

  /** Two names may stand for the same endpoint of one instance. */
  function isShared(connection: Connection): boolean {
    return [...servers.values()].some(other => other.connection === connection);
  }

  /** Tells what is no longer as it was. */
  function changed(live: Live): void {
    const view = viewOf(live);
    if (!view && isForOne(live.definition) && !problemOf(live)) return;
    if (view) acceptFirst(live, view);
    const offered = view && isUp(live) ? view.offered : NO_TOOLS;
    if (!isDeepStrictEqual(offered, live.offered)) {
      live.offered = offered;
      const { scope: mcp, name: server } = live.definition.ref;
      onTools({ mcp, server, count: offered.size });
      logger.info('The tools of an MCP server changed', { mcp, server, count: offered.size });
    }
    if (!view) return;
    const { changes, shortcomings, held } = view;
    if (!isDeepStrictEqual(changes, live.changes)) {
      live.changes = changes;
      if (changes.size > 0) {
        logger.warn('The tools of an MCP server are no longer those that were accepted', {
          ...nameOf(live),
          count: changes.size,
          tools: [...changes.values()].slice(0, MAX_LOGGED).map(({ name, kind }) => `${name}: ${kind}`),
          held: held.size > 0,
        });
      }
    }
    if (!isDeepStrictEqual(shortcomings, live.shortcomings)) {
      live.shortcomings = shortcomings;
      if (shortcomings.length > 0)
        logger.warn('An MCP server does not have all that is expected of it', {
          ...nameOf(live),
          shortcomings: shortcomings.slice(0, MAX_LOGGED),
        });
    }
  }

  function acceptFirst(live: Live, view: ServerView): void {
    const { ref } = live.definition;
    if (view.known.size === 0 || isUntouched(live) || accepted.of(ref)?.size) return;
    accepted
      .first(ref, [...view.known.values()])
      .catch(error =>
        logger.error('What an MCP server offers could not be noted', { ...nameOf(live), error }),
      );
  }

  function end(ref: ServerRef): void {
    const live = liveOf(ref);
    if (!live) return;
    live.look += 1;
    servers.delete(formatServerRef(ref));
    accepted.forget(ref);
    kept.forget(ref);
    unfollow(live);
    retirePeople(live);
    const { scope: mcp, name: server } = ref;
    onTools({ mcp, server, count: undefined });
    logger.info('The tools of an MCP server changed', { mcp, server, count: 0 });
  }

  function problemOf({ connection, problem }: Live): ServerProblem | undefined {
    if (!connection?.trouble) return connection?.facts ? undefined : problem;
    const { error, at, failures, retryAt } = connection.trouble;
    const { kind, message } = error;
    return { kind, message, at, failures, retryAt: connection.kept ? retryAt : undefined };
  }

  return {
    start() {
      for (const { definition } of registry.list().servers) begin(definition);
      stops.push(
        registry.subscribe(({ kind, definition }) =>
          kind === 'removed' ? end(definition.ref) : begin(definition),
        ),
        deps.store.subscribe(event => {
          switch (event.kind) {
            case 'server-changed': {
              const live = liveOf({ scope: event.instance, name: event.name });
              if (live) look(live, { accepts: true });
              break;
            }
            case 'secret-changed':
            case 'variable-changed':
              for (const live of servers.values()) {
                if (!mayReferTo(live.definition, event.name)) continue;
                retirePeople(live);
                look(live);
              }
              break;
            case 'resync':
              for (const live of servers.values()) look(live, { accepts: true });
          }
        }),
      );
    },

    health(ref) {
      const live = liveOf(ref);
      if (live && isUntouched(live)) return UNTOUCHED;
      const view = live && isUp(live) ? viewOf(live) : undefined;
      return healthOf(view, {
        facts: live?.connection?.facts,
        problem: live && problemOf(live),
        stderr: live?.connection ? pool.stderrOf(live.connection) : [],
      });
    },

    async settle(ref, signal) {
      const live = liveOf(ref);
      if (!live) return;
      // Nobody keeps it: whether it still starts is to be found out.
      if (isForOne(live.definition) && !live.connection?.facts) look(live);
      await live.looking;
      await live.connection?.ready(signal).catch(() => undefined);
    },

    tools(ref) {
      const live = liveOf(ref);
      const view = live && viewOf(live);
      return live && view ? toolsOf(live.definition, view) : [];
    },

    async accept(ref, { tools, digests = {}, by }) {
      const live = liveOf(ref);
      const view = live && viewOf(live);
      if (!live || !view || !isUp(live) || isUntouched(live)) {
        throw new PlatformError(
          'unavailable',
          `${formatServerRef(ref)} is not connected, so nobody knows what its tools are; try again when it is.`,
        );
      }
      const missing = tools?.find(name => !view.known.has(name));
      if (missing !== undefined)
        throw new PlatformError(
          'not_found',
          `${formatServerRef(ref)} has no tool ${JSON.stringify(missing.slice(0, 128))} that can be used.`,
        );
      const chosen = [...view.known.values()].filter(({ name }) => tools?.includes(name) ?? true);
      // A server that knows when it is looked at could show one tool and have another accepted (attack 37).
      const other = chosen.find(
        tool => Object.hasOwn(digests, tool.name) && digests[tool.name] !== digestOf(snapshotOf(tool)),
      );
      if (other)
        throw new PlatformError(
          'conflict',
          `The tool "${other.name}" of ${formatServerRef(ref)} is no longer what was looked at; look again.`,
        );
      await accepted.accept(ref, chosen, { by, areAll: tools === undefined });
      changed(live);
      return chosen.map(({ name }) => name);
    },

    async call(ref, { tool, arguments: given, by, signal }) {
      const live = liveOf(ref);
      if (!live) throw new PlatformError('not_found', `There is no server ${formatServerRef(ref)}.`);
      const outcome = await calls.call({
        server: live.definition,
        tool,
        arguments: given,
        driver: 'person',
        callFor: { ...NOBODY, userId: by },
        signal,
      });
      return answerOf(outcome);
    },

    close() {
      closed.abort();
      for (const stop of stops) stop();
      for (const live of servers.values()) live.unsubscribe();
      servers.clear();
    },
  };
}

function newLive(definition: ServerDefinition): Live {
  return {
    definition,
    look: 0,
    looking: Promise.resolve(),
    connection: undefined,
    unsubscribe: () => undefined,
    problem: undefined,
    offered: undefined,
    changes: new Map(),
    shortcomings: [],
  };
}

function nameOf({ definition }: Live): { readonly server: string } {
  return { server: formatServerRef(definition.ref) };
}

function isForOne({ transport }: ServerDefinition): boolean {
  return transport.kind === 'stdio' && transport.isolation !== 'shared';
}

function mayReferTo({ transport }: ServerDefinition, name: string): boolean {
  return JSON.stringify(transport).includes(name);
}

/** A process of one person or one conversation that has ended was not needed any more. */
function isUp({ definition, connection }: Live): boolean {
  if (connection?.facts || isPersonal(definition)) return true;
  return isForOne(definition) && connection?.listed !== undefined && !connection.trouble;
}

/** Of a server that nobody has connected to, and that each person reaches by themselves: one tool starts that (W-82). */
const UNTOUCHED: ServerHealth = {
  ...{ state: 'unknown', toolCount: 1, problem: undefined, shortcomings: [] },
  ...{ speaks: undefined, stderr: [] },
};

/** Of a server that is connected to before anybody needs it. */
const NOBODY: CallFor = { agentId: undefined, conversationId: undefined, userId: '' };
