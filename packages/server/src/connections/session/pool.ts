import type { Transport } from '@modelcontextprotocol/client';
import type { Clock } from '../../kernel/clock.ts';
import { sha256OfJson } from '../../kernel/digest.ts';
import type { Logger } from '../../kernel/logger.ts';
import { createScrubber, inTurn } from '../../kernel/redact.ts';
import type { SafeFetch } from '../../kernel/safe-fetch.ts';
import type { Credential } from '../credential/credential.ts';
import { serviceCredential } from '../credential/service-credential.ts';
import { shownAddress } from '../server/server-address.ts';
import { type Connection, createConnection } from './connection.ts';
import { fillingInDefaults } from './elicitation-defaults.ts';
import type { Endpoint, StdioEndpoint } from './endpoint.ts';
import { createEraMemory } from './era-memory.ts';
import { scrubbed } from './failure.ts';
import { createOpener } from './open-endpoint.ts';
import type { Session } from './session.ts';
import { orAborted } from './time-limit.ts';
import { type Answerer, answerPingOnly, type Members } from './wire.ts';

/** Connections that nobody keeps are closed after so long without a call. */
const IDLE_MS = 900_000;
/** A process of one person or one conversation goes sooner (W-87). */
const OWN_IDLE_MS = 300_000;
const SWEEP_MS = 60_000;
/** Connections that nobody keeps, at a time; those used least lately make room. */
const MAX_UNKEPT = 1_000;

/** The person or conversation a connection is for, where it is not everybody's, and the server it is to, by name. */
export interface Owner {
  readonly server: string;
  readonly who: string;
  /** Their own credential it is made with: with another one it is another connection (W-77). */
  readonly credential?:
    | { readonly name: string; readonly userId: string; readonly given: number }
    | undefined;
}

export interface ConnectRequest {
  readonly endpoint: Endpoint;
  /** The server as the log names it, for whoever asks first; its address or command unless given. */
  readonly name?: string | undefined;
  /** Whose it is: an instance of the registry, or whoever declares servers; each checks by itself. */
  readonly scope: string;
  readonly owner?: Owner | undefined;
  readonly connectTimeoutMs: number;
  readonly credential?: Credential | undefined;
  /** Takes the secrets of the endpoint out of what the server says of its failures. */
  readonly scrub?: ((text: string) => string) | undefined;
  /** Asked before every try; rejects with the sentence of the refusal (W-63). */
  readonly check?: (() => Promise<void>) | undefined;
}

/** The connections of this node: one for each endpoint, connect time limit and owner, whoever asks for it. */
export interface Pool {
  /** The connection, made if there is none; it connects when it is used. */
  connection(request: ConnectRequest): Connection;
  /** What the program behind a connection wrote to its standard error last, oldest first; of the one before, until it is another. */
  stderrOf(connection: Connection): readonly string[];
  /**
   * Forgets the connection, and those of other people to the same server at the same endpoint: they take no more requests, and are closed when
   * those under way have ended. Resolves then. Nothing happens where `successor` is to the same endpoint.
   */
  retire(connection: Connection, successor?: Connection): Promise<void>;
  /** The same for the connections of owners. */
  retireOf(isMeant: (owner: Owner) => boolean): Promise<void>;
  readonly size: number;
  close(): Promise<void>;
}

export interface PoolOptions {
  readonly fetch: SafeFetch;
  /** Runs a program, with what it wrote to its standard error last; the log names its server so. */
  readonly startProgram: (
    endpoint: StdioEndpoint,
    name: string,
  ) => Promise<Transport & { readonly stderr: readonly string[] }>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  /** Of the platform, as it introduces itself. */
  readonly version: string;
  /** What servers may ask of us, and who answers; nothing unless given. */
  readonly asked?: { readonly capabilities: Members; readonly answer: Answerer } | undefined;
}

interface Entry {
  readonly key: string;
  readonly connection: Connection;
  readonly owner: Owner | undefined;
  readonly idleMs: number;
  /** Epoch ms when somebody last wanted it: a call may be about to begin. */
  wantedAt: number;
}

export function createPool(options: PoolOptions): Pool {
  const { clock, random, logger } = options;
  const eras = createEraMemory(clock);
  const programs = new Map<string, { readonly stderr: readonly string[] }>();
  /** As the log names the servers of the entries. */
  const names = new Map<string, string>();
  const open = createOpener({
    ...options,
    eras,
    async startProgram(endpoint, key) {
      const program = await options.startProgram(endpoint, names.get(key) ?? shownEndpoint(endpoint));
      programs.set(key, program);
      return program;
    },
  });
  const client = { name: 'patchbay', version: options.version };
  const capabilities = options.asked?.capabilities ?? {};
  const answer = options.asked ? fillingInDefaults(options.asked.answer) : answerPingOnly;
  const entries = new Map<string, Entry>();
  /** Of endpoints that are asked for again and again. */
  const digests = new WeakMap<Endpoint, string>();
  /** Of connections, also forgotten ones: what those of all people to one endpoint have in common. */
  const groups = new WeakMap<Connection, string>();
  const retired = new Set<Connection>();
  const closed = new AbortController();
  let sweeping = false;

  function make(key: string, request: ConnectRequest): Entry {
    const { endpoint, owner, connectTimeoutMs, check } = request;
    const credential =
      request.credential ?? (endpoint.kind === 'http' ? serviceCredential(endpoint, options) : undefined);
    const scrubShown = credential?.secrets && scrubberOf(credential.secrets);
    const scrub = inTurn(request.scrub, scrubShown);
    const name = request.name ?? shownEndpoint(endpoint);
    names.set(key, name);
    const connection = createConnection({
      ...{ clock, random, connectTimeoutMs, scrub: scrubShown },
      logger: logger.child({ server: name, at: shownEndpoint(endpoint) }),
      hasHeaders: endpoint.kind === 'http',
      async open(hooks) {
        if (check) await orAborted(check(), hooks.signal);
        const opening = { ...hooks, endpoint, credential, key, client, capabilities, answer };
        return scrub ? openScrubbed(open, opening, scrub) : open(opening);
      },
      onWrongEra: () => eras.forget(key),
    });
    groups.set(connection, sha256OfJson([request.scope, owner?.server ?? null, endpoint, connectTimeoutMs]));
    const idleMs = owner === undefined ? IDLE_MS : OWN_IDLE_MS;
    return { key, connection, owner, idleMs, wantedAt: clock.now() };
  }

  /** There are secrets in an endpoint: only its digest is kept. */
  function keyOf({ endpoint, scope, owner, connectTimeoutMs }: ConnectRequest): string {
    let digest = digests.get(endpoint);
    if (digest === undefined) {
      digest = sha256OfJson(endpoint);
      digests.set(endpoint, digest);
    }
    return JSON.stringify([scope, owner ?? null, digest, connectTimeoutMs]);
  }

  async function sweep(): Promise<void> {
    if (sweeping) return;
    sweeping = true;
    while (entries.size > 0 && !closed.signal.aborted) {
      await clock.sleep(SWEEP_MS, closed.signal).catch(() => undefined);
      const now = clock.now();
      for (const entry of entries.values()) {
        if (isIdle(entry.connection) && now - lastUsed(entry) >= entry.idleMs) void forget(entry);
      }
    }
    sweeping = false;
  }

  async function forget({ key, connection }: Entry): Promise<void> {
    entries.delete(key);
    programs.delete(key);
    names.delete(key);
    retired.add(connection);
    await connection.retire();
    retired.delete(connection);
  }

  function makeRoom(): void {
    if (entries.size < MAX_UNKEPT) return;
    const idle = [...entries.values()].filter(({ connection }) => isIdle(connection));
    if (idle.length < MAX_UNKEPT) return;
    void forget(idle.reduce((one, other) => (lastUsed(other) < lastUsed(one) ? other : one)));
  }

  return {
    connection(request) {
      const key = keyOf(request);
      let entry = entries.get(key);
      if (!entry) {
        makeRoom();
        entry = make(key, request);
        entries.set(key, entry);
        void sweep();
      }
      entry.wantedAt = clock.now();
      return entry.connection;
    },
    stderrOf(connection) {
      const entry = [...entries.values()].find(one => one.connection === connection);
      return (entry && programs.get(entry.key)?.stderr) ?? [];
    },
    async retire(connection, successor) {
      const group = groups.get(connection);
      if (successor && groups.get(successor) === group) return;
      const same = [...entries.values()].filter(entry => groups.get(entry.connection) === group);
      await Promise.all(same.map(forget));
    },
    async retireOf(isMeant) {
      const meant = [...entries.values()].filter(({ owner }) => owner !== undefined && isMeant(owner));
      await Promise.all(meant.map(forget));
    },
    get size() {
      return entries.size;
    },
    async close() {
      closed.abort();
      const connections = [...[...entries.values()].map(({ connection }) => connection), ...retired];
      await Promise.all(connections.map(connection => connection.close()));
    },
  };
}

/** Takes the values out of a text that are secret at that moment. */
function scrubberOf(secrets: () => readonly string[]): (text: string) => string {
  let made: { readonly of: readonly string[]; readonly scrub: (text: string) => string } | undefined;
  return text => {
    const of = secrets();
    if (made?.of !== of) made = { of, scrub: createScrubber(of) };
    return made.scrub(text);
  };
}

function isIdle({ kept, inFlight }: Connection): boolean {
  return !kept && inFlight === 0;
}

function lastUsed({ wantedAt, connection }: Entry): number {
  return Math.max(wantedAt, connection.usedAt);
}

/** A session whose failures repeat no secret, whatever the server says of them. */
async function openScrubbed(
  open: ReturnType<typeof createOpener>,
  opening: Parameters<ReturnType<typeof createOpener>>[0],
  scrub: (text: string) => string,
): Promise<Session> {
  const fail = (thrown: unknown): never => {
    throw scrubbed(thrown, scrub);
  };
  const session = await open(opening).catch(fail);
  return { ...session, request: (...request) => session.request(...request).catch(fail) };
}

/** For the log: without arguments and everything else where secrets stand. */
function shownEndpoint(endpoint: Endpoint): string {
  return endpoint.kind === 'stdio' ? endpoint.command : shownAddress(endpoint.url);
}
