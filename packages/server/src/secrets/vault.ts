import { agentMayUseSecret } from '../kernel/access.ts';
import type { Clock } from '../kernel/clock.ts';
import { Fault, PlatformError } from '../kernel/errors.ts';
import { newDataKeyId } from '../kernel/ids.ts';
import type { Logger } from '../kernel/logger.ts';
import type { VaultKey } from '../kernel/vault-key.ts';
import { createRowCache } from '../store/row-cache.ts';
import type { Db, Store } from '../store/store.ts';
import {
  type DataKeyRecord,
  deleteUnusedDataKeys,
  insertCurrentDataKey,
  listDataKeys,
  lockCurrentDataKey,
  retireDataKey,
  rewrapDataKey,
} from '../store/tables/data-keys.ts';
import { addJob } from '../store/tables/jobs.ts';
import {
  type CredentialKey,
  credentialOf,
  listCredentialsOfOtherKeys,
  resealCredential,
} from '../store/tables/personal-credentials.ts';
import {
  countSecrets,
  deleteSecret,
  findGrants,
  findSecret,
  listSealedForAll,
  listSecrets,
  listSecretsOfOtherKeys,
  resealSecret,
  type SealedSecret,
  type SecretRecord,
  touchSecret,
  upsertSecret,
} from '../store/tables/secrets.ts';
import {
  checksumOf,
  type DataKey,
  newDataKey,
  openSecret,
  openText,
  sealSecret,
  sealText,
  unwrapDataKey,
  wrapDataKey,
} from './sealing.ts';
import { createVaultKeys, type VaultKeyOptions } from './vault-keys.ts';

const MAX_SECRETS = 10_000;
const MAX_OF_CONVERSATION = 100;
const MAX_CHARACTERS = 65_536;
/** An opened secret is remembered so long, and this many of them. */
const OPENED_MS = 300_000;
const MAX_OPENED = 1_000;
const ACCESS_STEP_MS = 3_600_000;
/** Secrets that are encrypted again in one unit: each holds up who stores secrets. */
const RESEAL_AT_ONCE = 100;
/** Secrets that are looked at together for one of the same value: others come first in between. */
const COMPARED_AT_ONCE = 100;

/** The job that ends a rotation which its node could not end. */
export const RESEAL_JOB = 'reseal-secrets';

/** What is to be stored. What is left out stays as it is. */
export interface SecretRequest {
  readonly name: string;
  readonly value?: string | undefined;
  readonly description?: string | undefined;
  readonly allowedAgents?: readonly string[] | undefined;
  /** Principal id of who stores it. */
  readonly by: string;
  /** Where it was told in a conversation: it goes with it, and is not listed. */
  readonly conversationId?: string | undefined;
}

/** A secret as it is after it was stored, without its value. */
export interface StoredSecret {
  readonly secret: SecretRecord;
  /** There was none of that name. */
  readonly created: boolean;
}

/** What a rotation came to. */
export interface Resealed {
  readonly count: number;
  /** Names of those that do not open. */
  readonly damaged: readonly string[];
}

/**
 * Secrets, encrypted in the database. What needs the vault key rejects with a `PlatformError` of kind `disabled` that names the
 * setting while there is no key or another one; a row that somebody changed rejects with a `Fault`.
 */
export interface Vault {
  /**
   * Takes over what the previous vault key has encrypted, and says in the log when this node cannot open what is stored. Rejects
   * with nothing of that: a platform starts without its vault.
   */
  start(): Promise<void>;
  /**
   * Stores a secret. Rejects with a `PlatformError`: `invalid` when a new one has no value or it is too long, `conflict` when there are as many as
   * there may be.
   */
  put(request: SecretRequest): Promise<StoredSecret>;
  /** As `put`, for a unit that stores more than the secret: what this resolves with is called within it. */
  preparePut(request: SecretRequest): Promise<(db: Db) => Promise<StoredSecret>>;
  /** The name of a secret that people have stored, that every agent may use and that has this value; `undefined` when there is none. */
  findEqual(value: string): Promise<string | undefined>;
  list(options: { readonly after: string; readonly limit: number }): Promise<SecretRecord[]>;
  /** False when there is none of that name. */
  remove(name: string): Promise<boolean>;
  /** Makes a new data key and encrypts every secret with it. */
  rotate(): Promise<Resealed>;
  /** Encrypts with the current data key what another one has encrypted. Finds itself done. */
  reseal(): Promise<Resealed>;
  /** The value for an agent: `absent` when there is none of that name, `not-allowed` when it is for other agents. */
  open(name: string, agentId: string): Promise<OpenedSecret>;
  /**
   * Seals texts that are no secrets of the vault with its keys, each for what it belongs to; what this resolves with is called within a unit.
   */
  prepareSeal(): Promise<(db: Db, belongsTo: readonly string[], text: string) => Promise<SealedText>>;
  /** Rejects with a `Fault` when it was changed, or sealed for something else. */
  openText(text: SealedWith, belongsTo: readonly string[]): Promise<string>;
  /** Which of the names are there, with the agents that may use each. Needs no key. */
  grants(names: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>>;
}

/** A sealed text as it is stored. */
export interface SealedText {
  readonly sealed: Uint8Array;
  readonly dataKeyId: string;
}

/** With the key that opens it, besides the vault key. */
export interface SealedWith {
  readonly sealed: Uint8Array;
  readonly dataKey: DataKeyRecord;
}

export type OpenedSecret =
  | { readonly kind: 'opened'; readonly value: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'not-allowed' };

/** Each one more means that the key was rotated in that moment. */
const MAX_LOCK_ATTEMPTS = 20;

export function createVault(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly keys: VaultKeyOptions;
}): Vault {
  const { store, clock, logger } = deps;
  const keys = createVaultKeys(deps.keys);
  /** Opened data keys. They go on working here while other nodes change the vault key. */
  const dataKeys = new Map<string, DataKey>();
  const opened = createRowCache({
    clock,
    store,
    load: loadSecret,
    maxRows: MAX_OPENED,
    readAgainMs: OPENED_MS,
  });
  store.subscribe(event => {
    if (event.kind === 'resync') opened.forget(() => true);
    if (event.kind === 'secret-changed') opened.forget(secret => secret.name === event.name);
  });

  /** The key to encrypt with. Only where nothing is encrypted yet may it be a new one. */
  async function vaultKey(): Promise<VaultKey> {
    const present = await keys.current();
    if (present) return present;
    if ((await listDataKeys(store.db)).length > 0) throw otherVaultKey();
    const made = await keys.make();
    if (made) return made;
    throw vaultIsOff();
  }

  function openDataKey(record: DataKeyRecord, current: VaultKey | undefined): DataKey {
    const known = dataKeys.get(record.id);
    if (known) return known;
    if (!current && deps.keys.file === undefined) throw vaultIsOff();
    const key = [current, keys.previous].find(candidate => candidate?.id === record.vaultKeyId);
    if (!key) throw otherVaultKey();
    const dataKey = unwrapDataKey(key, record.id, record.wrapped);
    if (!dataKey) {
      throw new Fault(
        'data_key_damaged',
        'A data key in the database was changed: put a backup in its place.',
        {
          data: { dataKeyId: record.id },
        },
      );
    }
    dataKeys.set(record.id, dataKey);
    return dataKey;
  }

  function openSealed(secret: SealedSecret, current: VaultKey | undefined): string {
    const value = openSecret(openDataKey(secret.dataKey, current), secret, secret.sealed);
    if (value !== undefined) return value;
    throw new Fault('secret_damaged', 'A secret in the database was changed from outside: store it again.', {
      data: { name: secret.name },
    });
  }

  /** The data key for what is stored now, held until the unit ends; made when there is none. */
  async function currentDataKey(db: Db, current: VaultKey): Promise<DataKey> {
    for (let attempt = 0; attempt < MAX_LOCK_ATTEMPTS; attempt++) {
      const locked = await lockCurrentDataKey(db);
      if (locked) return openDataKey(locked, current);
      // There is none yet, or a rotation that this unit waited for has just put another one in its place.
      await insertNewDataKey(db, current);
    }
    throw new Fault('no_data_key', 'The current data key changed each time it was asked for.');
  }

  async function insertNewDataKey(db: Db, current: VaultKey): Promise<void> {
    const fresh = newDataKey(newDataKeyId());
    await insertCurrentDataKey(db, {
      id: fresh.id,
      vaultKeyId: current.id,
      wrapped: wrapDataKey(current, fresh),
      createdAt: clock.now(),
    });
  }

  async function loadSecret(name: string) {
    const secret = await findSecret(store.db, name);
    if (!secret) return undefined;
    const value = openSealed(secret, await keys.current());
    const hour = Math.floor(clock.now() / ACCESS_STEP_MS) * ACCESS_STEP_MS;
    if ((secret.lastAccessedAt ?? 0) < hour) await store.commit(db => touchSecret(db, name, hour));
    return { name, value, allowedAgents: secret.allowedAgents };
  }

  /** Encrypts with the vault key in use what the one before it has encrypted. */
  async function takeOver(previous: VaultKey): Promise<void> {
    const records = (await listDataKeys(store.db)).filter(({ vaultKeyId }) => vaultKeyId === previous.id);
    if (records.length === 0) return;
    const current = await keys.make();
    if (!current) throw vaultIsOff();
    for (const record of records) {
      const wrapped = wrapDataKey(current, openDataKey(record, current));
      await store.commit(db =>
        rewrapDataKey(db, { id: record.id, wrapped, vaultKeyId: current.id, fromVaultKeyId: previous.id }),
      );
    }
  }

  async function reseal(): Promise<Resealed> {
    const current = await vaultKey();
    const damaged: string[] = [];
    let count = 0;
    let after = '';
    for (;;) {
      const batch = await store.commit(async db => {
        const dataKey = await currentDataKey(db, current);
        const secrets = await listSecretsOfOtherKeys(db, {
          dataKeyId: dataKey.id,
          after,
          limit: RESEAL_AT_ONCE,
        });
        const failed: string[] = [];
        for (const secret of secrets) {
          const value = tryOpen(secret, current);
          if (value === undefined) failed.push(secret.name);
          else
            await resealSecret(db, {
              name: secret.name,
              sealed: sealSecret(dataKey, secret, value),
              dataKeyId: dataKey.id,
            });
        }
        return { names: secrets.map(({ name }) => name), failed };
      });
      count += batch.names.length - batch.failed.length;
      damaged.push(...batch.failed);
      if (batch.names.length < RESEAL_AT_ONCE) break;
      after = batch.names.at(-1)!;
    }
    await resealCredentials(current);
    await store.commit(deleteUnusedDataKeys);
    if (damaged.length > 0) logger.error('Secrets do not open and keep their old data key', { damaged });
    return { count, damaged };
  }

  /** Those of people at MCP servers. One that does not open keeps its key. */
  async function resealCredentials(current: VaultKey): Promise<void> {
    let after: CredentialKey | undefined;
    for (;;) {
      const last = after;
      const batch = await store.commit(async db => {
        const dataKey = await currentDataKey(db, current);
        const rows = await listCredentialsOfOtherKeys(db, {
          dataKeyId: dataKey.id,
          after: last,
          limit: RESEAL_AT_ONCE,
        });
        for (const row of rows) {
          const belongsTo = credentialOf(row);
          const text = openText(openDataKey(row.dataKey, current), belongsTo, row.sealed);
          if (text === undefined) continue;
          const sealed = sealText(dataKey, belongsTo, text);
          await resealCredential(db, { ...row, sealed, dataKeyId: dataKey.id });
        }
        return rows;
      });
      if (batch.length < RESEAL_AT_ONCE) return;
      after = batch.at(-1);
    }
  }

  /** One that does not open must not keep the others from their new key. */
  function tryOpen(secret: SealedSecret, current: VaultKey | undefined): string | undefined {
    try {
      return openSealed(secret, current);
    } catch {
      return undefined;
    }
  }

  async function preparePut(request: SecretRequest): Promise<(db: Db) => Promise<StoredSecret>> {
    const { name, value, description, allowedAgents, by, conversationId } = request;
    if (value !== undefined && value.length > MAX_CHARACTERS) {
      throw new PlatformError('invalid', `A secret has at most ${MAX_CHARACTERS} characters.`);
    }
    const current = await vaultKey();
    const at = clock.now();
    return async db => {
      const dataKey = await currentDataKey(db, current);
      const before = await findSecret(db, name);
      if (!before && value === undefined) {
        throw new PlatformError('invalid', 'Missing required argument: value. A new secret needs one.');
      }
      const most = conversationId === undefined ? MAX_SECRETS : MAX_OF_CONVERSATION;
      if (!before && (await countSecrets(db, conversationId)) >= most) {
        throw new PlatformError('conflict', `There are ${most} secrets, as many as there may be.`);
      }
      const plain = value ?? openSealed(before!, current);
      const secret: SecretRecord = {
        name,
        checksum: value === undefined ? before!.checksum : checksumOf(dataKey, name, value),
        allowedAgents: [...new Set(allowedAgents ?? before?.allowedAgents ?? [])],
        description: description ?? before?.description ?? '',
        createdBy: before?.createdBy ?? by,
        createdAt: before?.createdAt ?? at,
        modifiedBy: by,
        modifiedAt: at,
        lastAccessedAt: before?.lastAccessedAt,
      };
      await upsertSecret(db, {
        ...secret,
        sealed: sealSecret(dataKey, secret, plain),
        dataKeyId: dataKey.id,
        conversationId,
      });
      return { secret, created: before === undefined };
    };
  }

  return {
    async start() {
      try {
        if (keys.previous) await takeOver(keys.previous);
        const current = await keys.current();
        for (const record of await listDataKeys(store.db)) openDataKey(record, current);
      } catch (error) {
        logger.warn('The vault cannot be used: secrets can be neither stored nor resolved', { error });
      }
    },

    put: async request => store.commit(await preparePut(request)),
    preparePut,

    async findEqual(value) {
      const current = await keys.current();
      let after = '';
      for (;;) {
        const batch = await listSealedForAll(store.db, { after, limit: COMPARED_AT_ONCE });
        const same = batch.find(secret => tryOpen(secret, current) === value);
        if (same || batch.length < COMPARED_AT_ONCE) return same?.name;
        after = batch.at(-1)!.name;
      }
    },

    list: options => listSecrets(store.db, options),
    remove: name => store.commit(db => deleteSecret(db, name)),

    async rotate() {
      const current = await vaultKey();
      await store.commit(async db => {
        const retired = await currentDataKey(db, current);
        await retireDataKey(db, retired.id);
        await insertNewDataKey(db, current);
        await addJob(db, { id: RESEAL_JOB, kind: RESEAL_JOB, payload: null });
      });
      return reseal();
    },

    reseal,

    async open(name, agentId) {
      const secret = opened.recall(name) ?? (await opened.read(name));
      if (!secret) return { kind: 'absent' };
      if (!agentMayUseSecret(agentId, secret)) return { kind: 'not-allowed' };
      return { kind: 'opened', value: secret.value };
    },

    async prepareSeal() {
      const current = await vaultKey();
      return async (db, belongsTo, text) => {
        const dataKey = await currentDataKey(db, current);
        return { sealed: sealText(dataKey, belongsTo, text), dataKeyId: dataKey.id };
      };
    },

    async openText({ sealed, dataKey }, belongsTo) {
      const text = openText(openDataKey(dataKey, await keys.current()), belongsTo, sealed);
      if (text !== undefined) return text;
      throw new Fault('sealed_text_damaged', 'A sealed text in the database was changed from outside.', {
        data: { kind: belongsTo[0] },
      });
    },

    grants: names => findGrants(store.db, names),
  };
}

function vaultIsOff(): PlatformError {
  return new PlatformError(
    'disabled',
    'The vault is off: with PostgreSQL it needs a key. Make one with `npx patchbay secrets new-key` and set it as PATCHBAY_VAULT_KEY on every node.',
  );
}

function otherVaultKey(): PlatformError {
  return new PlatformError(
    'disabled',
    'The secrets in this database were encrypted with another vault key: set that one as PATCHBAY_VAULT_KEY, or put the file vault-key back into the data folder; to change to the present key, set the other one as PATCHBAY_VAULT_PREVIOUS_KEY.',
  );
}
