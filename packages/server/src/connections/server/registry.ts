import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../kernel/clock.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { SafeFetch } from '../../kernel/safe-fetch.ts';
import type { References } from '../../secrets/references.ts';
import type { Vault } from '../../secrets/vault.ts';
import type { Store } from '../../store/store.ts';
import {
  countServers,
  deleteServer,
  findServer,
  insertServer,
  listServers,
  replaceServerOptions,
  type StoredServer,
} from '../../store/tables/servers.ts';
import type { ConfiguredCredentials } from '../credential/configured-credentials.ts';
import { type AddressCheck, askCheck } from './address-check.ts';
import { type ConfiguredInstances, readInstances, type StaticInstance } from './configured-instances.ts';
import { formatServerRef, type ServerDefinition, type ServerRef } from './definition.ts';
import { moveCredentials, openerOf, secretPrefix } from './literal-credentials.ts';
import { optionsOf } from './options-of.ts';
import { readServerOptions } from './server-options.ts';

/** Several nodes on one database find out about each other's servers by news; this is for what is lost (W-55). */
const READ_AGAIN_MS = 60_000;
const MAX_SERVERS = 1_000;

/** A server as the registry has it. */
export interface RegisteredServer {
  readonly definition: ServerDefinition;
  /** `undefined` for one of the configuration. */
  readonly stored: Omit<StoredServer, 'instance' | 'name' | 'options'> | undefined;
}

/** A stored server that cannot be used, and why, in a sentence. */
export interface UnusableServer {
  readonly ref: ServerRef;
  readonly stored: NonNullable<RegisteredServer['stored']>;
  readonly reason: string;
}

export type ServerChange =
  | { readonly kind: 'added' | 'changed'; readonly definition: ServerDefinition }
  | { readonly kind: 'removed'; readonly definition: ServerDefinition };

export interface AddRequest {
  readonly instance: string;
  readonly name: string;
  readonly options: unknown;
  /** Names in `env` whose values go into the vault, whatever they look like. */
  readonly vaulted?: readonly string[] | undefined;
  /** Takes the place of one that was added under that name before. */
  readonly replace: boolean;
  /** Principal id of who adds it. */
  readonly by: string;
}

/**
 * The servers that rules and people reach by name: those of the configuration, which only the configuration changes, and those that were
 * added while the platform runs, which all nodes on one database share. Instances do not see each other's servers (W-02).
 */
export interface Registry {
  /** Reads the stored servers and begins to listen; until then there are those of the configuration. */
  start(): Promise<void>;
  /**
   * Adds a server, on all nodes. Credentials that stand in its options go into the vault. Rejects with a `PlatformError`: `invalid` for
   * wrong options, an address that may not be used, a command under a check (W-64); `not_found` for an instance there is not;
   * `conflict` for a name that is taken (W-59); that of the vault when it cannot be used.
   */
  add(request: AddRequest): Promise<RegisteredServer>;
  /** False when there was none of that name (W-60). Rejects with `conflict` for one of the configuration, with `not_found` for an instance there is not. */
  remove(ref: ServerRef): Promise<boolean>;
  /** Names, in order (W-51). Throws `not_found` for an instance there is not. */
  servers(instance: string): string[];
  /** All of an instance, or of all instances. */
  list(instance?: string): {
    readonly servers: readonly RegisteredServer[];
    readonly unusable: readonly UnusableServer[];
  };
  find(ref: ServerRef): RegisteredServer | undefined;
  /** Reads the store at once (W-56). Throws `not_found` for an instance there is not. */
  reconcile(instance: string): Promise<void>;
  /** Told of each change, after it holds. Answers how to stop. */
  subscribe(listener: (change: ServerChange) => void): () => void;
  /** What has to be asked before every connection of an instance (W-63); `undefined` where there is no check of its own. */
  checkOf(instance: string): ((url: string) => Promise<void>) | undefined;
  /** Where people's own credentials of an instance come from; `undefined` where it is the platform's own store (W-71). */
  credentialsOf(instance: string): ConfiguredCredentials | undefined;
  /**
   * Takes another configuration, all of it or nothing: throws a `PlatformError` of kind `invalid` that names what is wrong and changes
   * nothing then. A server whose definition is the same is not told of.
   */
  configure(instances: ConfiguredInstances): void;
  close(): Promise<void>;
}

interface Known extends RegisteredServer {
  readonly key: string;
}

export function createRegistry(deps: {
  readonly instances: ConfiguredInstances;
  readonly store: Store;
  readonly vault: Pick<Vault, 'put' | 'remove'>;
  readonly references: Pick<References, 'compile' | 'resolve'>;
  readonly fetch: Pick<SafeFetch, 'check'>;
  readonly clock: Clock;
  readonly logger: Logger;
}): Registry {
  const { store, vault, references, fetch, clock, logger } = deps;
  const closed = new AbortController();
  const listeners = new Set<(change: ServerChange) => void>();
  let configured = readInstances(deps.instances, references);
  let rows: readonly StoredServer[] = [];
  let known = new Map<string, Known>();
  let unusable: readonly UnusableServer[] = [];
  /** Stored definitions by row and revision: what did not change is not parsed again, and stays the same value. */
  let parsed = new Map<string, ServerDefinition | PlatformError>();
  let reading: Promise<void> | undefined;
  let readAgain = false;
  let unsubscribe: (() => void) | undefined;
  let rereading: Promise<void> | undefined;

  function instanceOf(name: string): StaticInstance {
    const instance = configured.get(name);
    if (instance) return instance;
    const names = [...configured.keys()].join(', ');
    throw new PlatformError(
      'not_found',
      `There is no instance ${JSON.stringify(name.slice(0, 60))}; there are ${names}.`,
    );
  }

  /** Puts together what there is, and tells what is different. */
  function apply(): void {
    const next = new Map<string, Known>();
    const broken: UnusableServer[] = [];
    for (const { definitions } of configured.values()) {
      for (const definition of definitions.values()) {
        const key = formatServerRef(definition.ref);
        next.set(key, { key, definition, stored: undefined });
      }
    }
    const seen = new Map<string, ServerDefinition | PlatformError>();
    for (const row of rows) {
      const ref = { scope: row.instance, name: row.name };
      const key = formatServerRef(ref);
      const instance = configured.get(row.instance);
      if (!instance) continue;
      const { revision, createdBy, createdAt, updatedAt } = row;
      const stored = { revision, createdBy, createdAt, updatedAt };
      const seenKey = `${key} ${revision} ${createdAt}`;
      const read = parsed.get(seenKey) ?? parseStored(row);
      seen.set(seenKey, read);
      const reason = next.has(key)
        ? 'The configuration has a server of that name, which goes before it.'
        : read instanceof PlatformError
          ? read.message
          : instance.check && read.transport.kind === 'stdio'
            ? commandUnderCheck(ref)
            : undefined;
      if (reason !== undefined) broken.push({ ref, stored, reason });
      else next.set(key, { key, stored, definition: read as ServerDefinition });
    }
    const before = known;
    known = next;
    unusable = broken;
    parsed = seen;
    tell(before, next);
  }

  function parseStored({ instance, name, options }: StoredServer): ServerDefinition | PlatformError {
    try {
      return readServerOptions(options, {
        ref: { scope: instance, name },
        source: 'data',
        texts: references,
      });
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error;
      logger.error('A stored server cannot be used', { server: `${instance}/${name}`, why: error.message });
      return error;
    }
  }

  function tell(before: ReadonlyMap<string, Known>, now: Map<string, Known>): void {
    const changes: ServerChange[] = [];
    for (const [key, { definition }] of before) {
      if (!now.has(key)) changes.push({ kind: 'removed', definition });
    }
    for (const [key, entry] of now) {
      const old = before.get(key)?.definition;
      if (old === undefined) changes.push({ kind: 'added', definition: entry.definition });
      else if (old === entry.definition) continue;
      // The value that others hold already.
      else if (isDeepStrictEqual(old, entry.definition)) now.set(key, { ...entry, definition: old });
      else changes.push({ kind: 'changed', definition: entry.definition });
    }
    for (const change of changes) {
      for (const listener of listeners) {
        try {
          listener(change);
        } catch (error) {
          // What is told holds already, and the others still have to hear of it.
          logger.error('A listener failed', { server: formatServerRef(change.definition.ref), error });
        }
      }
    }
  }

  /** One look at a time; who asks meanwhile gets the next one, which sees what is there now. */
  function refresh(): Promise<void> {
    if (reading) {
      readAgain = true;
      return reading;
    }
    reading = (async () => {
      try {
        do {
          readAgain = false;
          rows = await listServers(store.db);
        } while (readAgain);
        apply();
      } finally {
        reading = undefined;
      }
    })();
    return reading;
  }

  function refreshSoon(): void {
    refresh().catch(error => logger.warn('The stored servers could not be read', { error }));
  }

  async function readEveryMinute(): Promise<void> {
    while (!closed.signal.aborted) {
      await clock.sleep(READ_AGAIN_MS, closed.signal).catch(() => undefined);
      if (closed.signal.aborted) return;
      await refresh().catch(error => logger.warn('The stored servers could not be read', { error }));
    }
  }

  async function checkAddressOf(
    { ref, transport }: ServerDefinition,
    check: AddressCheck | undefined,
  ): Promise<void> {
    if (transport.kind === 'stdio') {
      if (check) throw new PlatformError('invalid', commandUnderCheck(ref));
      return;
    }
    try {
      const address = references.compile(transport.url);
      const { text: url } = await references.resolve(address, { agentId: openerOf(ref) });
      if (check) await askCheck(check, url, { clock, logger });
      await fetch.check(url, { hostFrom: transport.hostFrom });
    } catch (error) {
      // Whatever its kind: who adds the server gave the address.
      if (error instanceof PlatformError) throw new PlatformError('invalid', error.message, { cause: error });
      throw error;
    }
  }

  async function putSecrets(secrets: ReadonlyMap<string, string>, ref: ServerRef, by: string): Promise<void> {
    for (const [name, value] of secrets) {
      await vault.put({
        ...{ name, value, by, allowedAgents: [openerOf(ref)] },
        description: `Of the MCP server ${formatServerRef(ref)}`,
      });
    }
  }

  /** Secrets of the server's own that its options no longer refer to. */
  async function removeSecrets(ref: ServerRef, options: unknown, kept: unknown): Promise<void> {
    const still = new Set(ownSecrets(ref, kept));
    for (const name of ownSecrets(ref, options)) if (!still.has(name)) await vault.remove(name);
  }

  apply();

  return {
    async start() {
      unsubscribe = store.subscribe(event => {
        if (event.kind === 'server-changed' || event.kind === 'resync') refreshSoon();
      });
      await refresh();
      rereading = readEveryMinute();
    },

    async add({ instance, name, options, vaulted = [], replace, by }) {
      const { check, definitions } = instanceOf(instance);
      const ref = { scope: instance, name };
      const given = readServerOptions(options, { ref, source: 'data', texts: references });
      if (definitions.has(name)) {
        throw new PlatformError(
          'conflict',
          `The configuration has a server ${formatServerRef(ref)} already: take another name, or change it there.`,
        );
      }
      const before = await findServer(store.db, { instance, name });
      if (before && !replace) throw nameTaken(ref);
      if (!before && (await countServers(store.db)) >= MAX_SERVERS) {
        throw new PlatformError('conflict', `There are ${MAX_SERVERS} servers, as many as there may be.`);
      }
      await checkAddressOf(given, check);
      const { definition, secrets, exposed } = moveCredentials(given, references, new Set(vaulted));
      if (exposed.length > 0) {
        throw new PlatformError(
          'invalid',
          `Server ${name}: ${exposed.join(', ')} looks like a credential, which every program of the machine can read among the arguments; put it into env.`,
        );
      }
      await putSecrets(secrets, ref, by);
      const stored = optionsOf(definition);
      const at = clock.now();
      const done = await store.commit(db =>
        before
          ? replaceServerOptions(db, { instance, name, options: stored, updatedAt: at })
          : insertServer(db, {
              instance,
              name,
              options: stored,
              createdBy: by,
              createdAt: at,
              updatedAt: at,
            }),
      );
      if (!done) throw nameTaken(ref);
      if (before) await removeSecrets(ref, before.options, stored);
      await refresh();
      const { createdBy = by, createdAt = at, revision = 0 } = before ?? {};
      const written = { revision: revision + 1, createdBy, createdAt, updatedAt: at };
      return known.get(formatServerRef(ref)) ?? { definition, stored: written };
    },

    async remove(ref) {
      const { definitions } = instanceOf(ref.scope);
      if (definitions.has(ref.name)) {
        throw new PlatformError(
          'conflict',
          `${formatServerRef(ref)} is a server of the configuration: take it out there.`,
        );
      }
      const of = { instance: ref.scope, name: ref.name };
      const before = await findServer(store.db, of);
      const removed = await store.commit(db => deleteServer(db, of));
      if (before) await removeSecrets(ref, before.options, undefined);
      await refresh();
      return removed;
    },

    servers(instance) {
      instanceOf(instance);
      return [...known.values()]
        .filter(({ definition }) => definition.ref.scope === instance)
        .map(({ definition }) => definition.ref.name)
        .sort();
    },

    list(instance) {
      if (instance !== undefined) instanceOf(instance);
      const isOf = ({ scope }: ServerRef) => instance === undefined || scope === instance;
      return {
        servers: [...known.values()]
          .filter(({ definition }) => isOf(definition.ref))
          .sort((one, other) => (one.key < other.key ? -1 : 1)),
        unusable: unusable.filter(({ ref }) => isOf(ref)),
      };
    },

    find: ref => known.get(formatServerRef(ref)),

    async reconcile(instance) {
      instanceOf(instance);
      await refresh();
    },

    subscribe(listener) {
      const entry = (change: ServerChange) => listener(change);
      listeners.add(entry);
      return () => listeners.delete(entry);
    },

    checkOf(instance) {
      const check = configured.get(instance)?.check;
      return check && (url => askCheck(check, url, { clock, logger }));
    },

    credentialsOf: instance => configured.get(instance)?.credentials,

    configure(instances) {
      configured = readInstances(instances, references);
      apply();
    },

    async close() {
      unsubscribe?.();
      closed.abort();
      await rereading;
      await reading?.catch(() => undefined);
    },
  };
}

function commandUnderCheck(ref: ServerRef): string {
  return `The server ${formatServerRef(ref)} is a command, and where addresses are checked a server that is added must have one: give a url, or put it into the configuration.`;
}

function nameTaken(ref: ServerRef): PlatformError {
  return new PlatformError(
    'conflict',
    `There is a server ${formatServerRef(ref)} already: remove it first, or ask for it to be replaced.`,
  );
}

/** Names of secrets that a server's options refer to and that are its own. */
function ownSecrets(ref: ServerRef, options: unknown): string[] {
  const prefix = secretPrefix(ref);
  const text = JSON.stringify(options) ?? '';
  return [...text.matchAll(/\$\{vault:([a-zA-Z0-9._-]{1,128})\}/g)].flatMap(([, name]) =>
    name!.startsWith(prefix) ? [name!] : [],
  );
}
