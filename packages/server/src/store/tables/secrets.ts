import { publish } from '../events.ts';
import type { Db } from '../store.ts';
import { DATA_KEY_COLUMNS, type DataKeyRecord, toDataKey } from './data-keys.ts';

/** What may be shown of a secret. */
export interface SecretRecord {
  readonly name: string;
  /** Another one when the value is another; says nothing else. */
  readonly checksum: string;
  /** Ids of agents; empty is every agent. */
  readonly allowedAgents: readonly string[];
  readonly description: string;
  readonly createdBy: string;
  readonly createdAt: number;
  readonly modifiedBy: string;
  readonly modifiedAt: number;
  /** To the hour; `undefined` while nobody has used it. */
  readonly lastAccessedAt: number | undefined;
}

/** With what it takes to open it, besides the vault key. */
export interface SealedSecret extends SecretRecord {
  readonly sealed: Uint8Array;
  readonly dataKey: DataKeyRecord;
}

const SHOWN = [
  'secrets.name',
  'secrets.checksum',
  'secrets.allowed_agents',
  'secrets.description',
  'secrets.created_by',
  'secrets.created_at',
  'secrets.modified_by',
  'secrets.modified_at',
  'secrets.last_accessed_at',
] as const;

/** In one look, so that a rotation cannot take the key away in between. */
export async function findSecret(db: Db, name: string): Promise<SealedSecret | undefined> {
  const row = await selectSealed(db).where('secrets.name', '=', name).executeTakeFirst();
  return row && toSealed(row);
}

/** Those that another key than this one has sealed, by name. */
export async function listSecretsOfOtherKeys(
  db: Db,
  options: { readonly dataKeyId: string; readonly after: string; readonly limit: number },
): Promise<SealedSecret[]> {
  const rows = await selectSealed(db)
    .where('secrets.data_key_id', '<>', options.dataKeyId)
    .where('secrets.name', '>', options.after)
    .orderBy('secrets.name')
    .limit(options.limit)
    .execute();
  return rows.map(toSealed);
}

/** Those that people have stored for every agent, by name; `after` begins behind that one. */
export async function listSealedForAll(
  db: Db,
  options: { readonly after: string; readonly limit: number },
): Promise<SealedSecret[]> {
  const rows = await selectSealed(db)
    .where('secrets.conversation_id', 'is', null)
    .where('secrets.allowed_agents', 'in', ['[]', '["*"]'])
    .where('secrets.name', '>', options.after)
    .orderBy('secrets.name')
    .limit(options.limit)
    .execute();
  return rows.map(toSealed);
}

function selectSealed(db: Db) {
  return db
    .selectFrom('secrets')
    .innerJoin('data_keys', 'data_keys.id', 'secrets.data_key_id')
    .select(SHOWN)
    .select('secrets.sealed')
    .select(DATA_KEY_COLUMNS);
}

/** Those that people have stored, by name; `after` begins behind that one. */
export async function listSecrets(
  db: Db,
  options: { readonly after: string; readonly limit: number },
): Promise<SecretRecord[]> {
  const rows = await db
    .selectFrom('secrets')
    .select(SHOWN)
    .where('conversation_id', 'is', null)
    .where('name', '>', options.after)
    .orderBy('name')
    .limit(options.limit)
    .execute();
  return rows.map(toRecord);
}

/** Both engines take more parameters in a statement. */
const NAMES_AT_ONCE = 500;

/** Which of them are there, with the agents that may use them. */
export async function findGrants(
  db: Db,
  names: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const grants = new Map<string, readonly string[]>();
  for (let at = 0; at < names.length; at += NAMES_AT_ONCE) {
    const rows = await db
      .selectFrom('secrets')
      .select(['name', 'allowed_agents'])
      .where('name', 'in', names.slice(at, at + NAMES_AT_ONCE))
      .execute();
    for (const row of rows) grants.set(row.name, JSON.parse(row.allowed_agents) as string[]);
  }
  return grants;
}

/** Those of a conversation, or those that people have stored. */
export async function countSecrets(db: Db, conversationId: string | undefined): Promise<number> {
  const row = await db
    .selectFrom('secrets')
    .select(eb => eb.fn.countAll().as('count'))
    .where('conversation_id', conversationId === undefined ? 'is' : '=', conversationId ?? null)
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** Inserts it, or replaces what is there of that name but for who made it when. */
export async function upsertSecret(
  db: Db,
  secret: SecretRecord & {
    readonly sealed: Uint8Array;
    readonly dataKeyId: string;
    readonly conversationId: string | undefined;
  },
): Promise<void> {
  const changing = {
    data_key_id: secret.dataKeyId,
    sealed: secret.sealed,
    checksum: secret.checksum,
    allowed_agents: JSON.stringify(secret.allowedAgents),
    description: secret.description,
    modified_by: secret.modifiedBy,
    modified_at: secret.modifiedAt,
  };
  await db
    .insertInto('secrets')
    .values({
      name: secret.name,
      ...changing,
      conversation_id: secret.conversationId ?? null,
      created_by: secret.createdBy,
      created_at: secret.createdAt,
      last_accessed_at: secret.lastAccessedAt ?? null,
    })
    .onConflict(conflict => conflict.column('name').doUpdateSet(changing))
    .execute();
  publish(db, { kind: 'secret-changed', name: secret.name });
}

/** The same value under another key: nobody has to forget it. */
export async function resealSecret(
  db: Db,
  secret: { readonly name: string; readonly sealed: Uint8Array; readonly dataKeyId: string },
): Promise<void> {
  await db
    .updateTable('secrets')
    .set({ sealed: secret.sealed, data_key_id: secret.dataKeyId })
    .where('name', '=', secret.name)
    .execute();
}

export async function touchSecret(db: Db, name: string, at: number): Promise<void> {
  await db.updateTable('secrets').set({ last_accessed_at: at }).where('name', '=', name).execute();
}

/** False when there is none of that name; the news is told all the same, for whoever missed it. */
export async function deleteSecret(db: Db, name: string): Promise<boolean> {
  const row = await db.deleteFrom('secrets').where('name', '=', name).returning('name').executeTakeFirst();
  publish(db, { kind: 'secret-changed', name });
  return row !== undefined;
}

interface ShownRow {
  readonly name: string;
  readonly checksum: string;
  readonly allowed_agents: string;
  readonly description: string;
  readonly created_by: string;
  readonly created_at: number;
  readonly modified_by: string;
  readonly modified_at: number;
  readonly last_accessed_at: number | null;
}

function toRecord(row: ShownRow): SecretRecord {
  return {
    name: row.name,
    checksum: row.checksum,
    allowedAgents: JSON.parse(row.allowed_agents) as string[],
    description: row.description,
    createdBy: row.created_by,
    createdAt: row.created_at,
    modifiedBy: row.modified_by,
    modifiedAt: row.modified_at,
    lastAccessedAt: row.last_accessed_at ?? undefined,
  };
}

function toSealed(
  row: ShownRow & {
    readonly sealed: Uint8Array;
    readonly id: string;
    readonly vault_key_id: string;
    readonly wrapped: Uint8Array;
  },
): SealedSecret {
  return { ...toRecord(row), sealed: new Uint8Array(row.sealed), dataKey: toDataKey(row) };
}
