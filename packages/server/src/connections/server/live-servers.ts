import { PlatformError } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Store } from '../../store/store.ts';
import type { CallFor } from '../call/outbound-call.ts';
import type { OutboundCalls } from '../call/outbound-calls.ts';
import type { CallOutcome } from '../call/outcome.ts';
import type { Connection } from '../session/connection.ts';
import { type SessionError, sessionError } from '../session/failure.ts';
import { readAnnotations } from '../tool/annotations.ts';
import { exposeTools } from '../tool/exposed-name.ts';
import type { AcceptedTools } from './accepted-tools.ts';
import { formatServerRef, type ServerDefinition, type ServerRef } from './definition.ts';
import type { Registry } from './registry.ts';
import type { ServerHealth, ServersRuntime, ServerTool, ServerToolAnswer } from './runtime.ts';
import { changeLines, type ServerView } from './server-view.ts';

/** Who has accepted what a server offered when it was first connected. */
const FIRST_LIST = 'first list';

export interface LiveServers extends ServersRuntime {
  /** Begins to connect, to each server by itself, and follows the registry from now on; waits for none of them (W-10, W-11). */
  start(): void;
  close(): void;
}

interface Live {
  readonly definition: ServerDefinition;
  connection: Connection | undefined;
  /** Ends when it is known which connection that is. */
  connecting: Promise<void>;
  /** Why there is no connection to try: its credentials cannot be had. */
  problem: { readonly error: SessionError; readonly at: number } | undefined;
  unsubscribe: () => void;
  /** As told last. */
  toolCount: number | undefined;
}

/** Keeps the registered servers connected, and knows how they are. */
export function createLiveServers(deps: {
  readonly registry: Registry;
  readonly calls: OutboundCalls;
  readonly accepted: AcceptedTools;
  readonly store: Pick<Store, 'subscribe'>;
  readonly clock: { now(): number };
  readonly logger: Logger;
  /** What a program wrote to its standard error last. */
  readonly stderrOf: (connection: Connection) => readonly string[];
  readonly drop: (connection: Connection) => Promise<void>;
  /** Told whenever the number of tools a server offers is another; 0 while it is down (W-106 to W-109). */
  readonly onTools: (tools: {
    readonly mcp: string;
    readonly server: string;
    readonly count: number;
  }) => void;
}): LiveServers {
  const { registry, calls, accepted, clock, logger } = deps;
  const servers = new Map<string, Live>();
  const stops: (() => void)[] = [];

  const liveOf = (ref: ServerRef) => servers.get(formatServerRef(ref));
  const viewOf = ({ definition, connection }: Live): ServerView | undefined =>
    connection && calls.listed(definition, connection);

  function begin(definition: ServerDefinition): void {
    const key = formatServerRef(definition.ref);
    const before = servers.get(key);
    const live: Live = {
      definition,
      connection: before?.connection,
      connecting: Promise.resolve(),
      problem: undefined,
      unsubscribe: before?.unsubscribe ?? (() => undefined),
      toolCount: before?.toolCount,
    };
    servers.set(key, live);
    live.connecting = connect(live);
  }

  /** The connection its definition stands for now; the one before is dropped where that is another. */
  async function connect(live: Live): Promise<void> {
    const { definition } = live;
    try {
      if (!accepted.of(definition.ref)) await accepted.read(definition.ref);
      const connection = await calls.connection(definition, NOBODY);
      if (liveOf(definition.ref) !== live) return;
      live.problem = undefined;
      follow(live, connection);
    } catch (thrown) {
      if (liveOf(definition.ref) !== live) return;
      const error = sessionError(thrown);
      live.problem = { error, at: clock.now() };
      logger.warn('An MCP server cannot be connected to', {
        server: formatServerRef(definition.ref),
        reason: error.message,
      });
      unfollow(live);
      changed(live);
    }
  }

  function follow(live: Live, connection: Connection): void {
    if (live.connection !== connection) unfollow(live);
    live.unsubscribe();
    live.connection = connection;
    live.unsubscribe = connection.subscribe(() => changed(live));
    const { transport } = live.definition;
    // A process of one person or one conversation starts when they need it.
    if (transport.kind === 'http' || transport.isolation === 'shared') connection.keep();
    changed(live);
  }

  function unfollow(live: Live): void {
    const { connection } = live;
    live.unsubscribe();
    live.unsubscribe = () => undefined;
    live.connection = undefined;
    if (connection && !isShared(connection)) void deps.drop(connection);
  }

  /** Two names may stand for the same endpoint of one instance. */
  function isShared(connection: Connection): boolean {
    return [...servers.values()].some(other => other.connection === connection);
  }

  function changed(live: Live): void {
    const view = viewOf(live);
    if (view && live.connection?.facts && !accepted.of(live.definition.ref) && view.known.size > 0) {
      void acceptFirst(live, view);
    }
    const count = live.connection?.facts && view ? view.offered.size : 0;
    if (count === live.toolCount) return;
    live.toolCount = count;
    const { scope: mcp, name: server } = live.definition.ref;
    deps.onTools({ mcp, server, count });
    logger.info('The tools of an MCP server changed', { mcp, server, count });
  }

  async function acceptFirst(live: Live, view: ServerView): Promise<void> {
    const { ref } = live.definition;
    try {
      await accepted.accept(ref, [...view.known.values()], { by: FIRST_LIST, onlyFirst: true });
    } catch (error) {
      logger.error('What an MCP server offers could not be noted', { server: formatServerRef(ref), error });
    }
  }

  function end(ref: ServerRef): void {
    const live = liveOf(ref);
    if (!live) return;
    servers.delete(formatServerRef(ref));
    accepted.forget(ref);
    unfollow(live);
    const { scope: mcp, name: server } = ref;
    if (live.toolCount !== 0) deps.onTools({ mcp, server, count: 0 });
  }

  function health(ref: ServerRef): ServerHealth {
    const live = liveOf(ref);
    const view = live && viewOf(live);
    const facts = live?.connection?.facts;
    const trouble = live?.connection?.trouble;
    const shortcomings = facts ? (view?.shortcomings ?? []) : [];
    return {
      state: facts
        ? shortcomings.length > 0
          ? 'degraded'
          : 'available'
        : trouble || live?.problem
          ? 'unavailable'
          : 'unknown',
      toolCount: facts && view ? view.offered.size : 0,
      problem: trouble
        ? {
            kind: trouble.error.kind,
            message: trouble.error.message,
            at: trouble.at,
            failures: trouble.failures,
            retryAt: live?.connection?.kept ? trouble.retryAt : undefined,
          }
        : live?.problem && {
            kind: live.problem.error.kind,
            message: live.problem.error.message,
            at: live.problem.at,
            failures: 1,
            retryAt: undefined,
          },
      shortcomings,
      speaks: facts && {
        name: facts.name ?? '',
        version: facts.version ?? '',
        protocol: facts.protocolVersion,
      },
      stderr: live?.connection ? deps.stderrOf(live.connection) : [],
    };
  }

  return {
    start() {
      for (const { definition } of registry.list().servers) begin(definition);
      stops.push(
        registry.subscribe(change =>
          change.kind === 'removed' ? end(change.definition.ref) : begin(change.definition),
        ),
        deps.store.subscribe(event => {
          if (event.kind === 'server-changed') void readAccepted({ scope: event.instance, name: event.name });
          // What a transport refers to may be another value now.
          if (
            event.kind === 'secret-changed' ||
            event.kind === 'variable-changed' ||
            event.kind === 'resync'
          ) {
            for (const live of servers.values()) void connect(live);
          }
        }),
      );
    },

    health,

    async settle(ref, signal) {
      const live = liveOf(ref);
      await live?.connecting;
      await live?.connection?.ready(signal).catch(() => undefined);
    },

    tools(ref) {
      const live = liveOf(ref);
      const view = live && viewOf(live);
      return live && view ? toolsOf(live.definition, view) : [];
    },

    async accept(ref, { tools, by }) {
      const live = liveOf(ref);
      const view = live && viewOf(live);
      if (!live || !view || !live.connection?.facts) {
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
      await accepted.accept(ref, chosen, { by, onlyFirst: false });
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
      for (const stop of stops) stop();
      for (const live of servers.values()) live.unsubscribe();
      servers.clear();
    },
  };

  async function readAccepted(ref: ServerRef): Promise<void> {
    const live = liveOf(ref);
    if (!live) return;
    await accepted
      .read(ref)
      .catch(error => logger.warn('What was accepted of an MCP server could not be read', { error }));
    changed(live);
  }
}

/** Of a server that is connected to before anybody needs it. */
const NOBODY: CallFor = { agentId: undefined, conversationId: undefined, userId: '' };

function toolsOf(definition: ServerDefinition, view: ServerView): ServerTool[] {
  const { prefix, ref } = definition;
  const names = exposeTools([{ server: ref, prefix, tools: [...view.offered.keys()] }]);
  const offeredAs = new Map([...names.byName].map(([name, { tool }]) => [tool, name]));
  const known = [...view.known.values()].map((tool): ServerTool => {
    const { name, title, description, inputSchema } = tool;
    const change = view.changes.get(name);
    const standing = view.held.has(name) ? 'held' : view.offered.has(name) ? 'offered' : 'left-out';
    return {
      ...{ name, title, description, inputSchema, standing },
      offeredAs: offeredAs.get(name),
      annotations: readAnnotations(tool) as ServerTool['annotations'],
      reason: standing === 'offered' ? undefined : view.whyNot(name),
      changes: change ? changeLines(change) : [],
    };
  });
  const quarantined = view.quarantined.map(
    ({ name, reason }): ServerTool => ({
      ...{ name, reason, standing: 'quarantined', offeredAs: undefined, changes: [] },
      ...{ title: undefined, description: undefined, inputSchema: {}, annotations: {} },
    }),
  );
  return [...known, ...quarantined];
}

function answerOf(outcome: CallOutcome): ServerToolAnswer {
  switch (outcome.kind) {
    case 'answered': {
      const { isError, value, text, cut } = outcome.result;
      return {
        kind: 'answered',
        isError,
        structuredContent: typeof value === 'string' ? undefined : value,
        text,
        cut,
      };
    }
    case 'refused':
      return { kind: 'refused', code: outcome.code, message: outcome.message };
    case 'failed':
      return { kind: 'failed', failure: outcome.failure, reached: outcome.reached, message: outcome.message };
  }
}
