import { publish } from '../events.ts';
import type { Schema } from '../schema.ts';
import type { Db } from '../store.ts';
import { deleteKeptTools } from './kept-tools.ts';

/** A server that was added while the platform runs. Names are unique within an instance. */
export interface StoredServer {
  readonly instance: string;
  readonly name: string;
  /** As they were given: data, with references in the place of credentials. */
  readonly options: unknown;
  /** Another one after every change. */
  readonly revision: number;
  readonly createdBy: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A tool of a server as a person has accepted it. */
export interface AcceptedTool {
  readonly tool: string;
  /** Of the snapshot. */
  readonly digest: string;
  /** What of the tool is compared. */
  readonly snapshot: unknown;
  readonly acceptedBy: string;
  readonly acceptedAt: number;
}

/** Which server a row is about. */
interface Of {
  readonly instance: string;
  readonly name: string;
}

/** By instance and name. */
export async function listServers(db: Db): Promise<StoredServer[]> {
  const rows = await db.selectFrom('servers').selectAll().orderBy('instance').orderBy('name').execute();
  return rows.map(toServer);
}

export async function findServer(db: Db, { instance, name }: Of): Promise<StoredServer | undefined> {
  const row = await db
    .selectFrom('servers')
    .selectAll()
    .where('instance', '=', instance)
    .where('name', '=', name)
    .executeTakeFirst();
  return row && toServer(row);
}

export async function countServers(db: Db): Promise<number> {
  const row = await db
    .selectFrom('servers')
    .select(eb => eb.fn.countAll().as('count'))
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** False when there is one of that name already. What was accepted under its name is of another one: a node may have written it late. */
export async function insertServer(db: Db, server: Omit<StoredServer, 'revision'>): Promise<boolean> {
  const { instance, name } = server;
  const row = await db
    .insertInto('servers')
    .values({
      instance,
      name,
      options: JSON.stringify(server.options),
      revision: 1,
      created_by: server.createdBy,
      created_at: server.createdAt,
      updated_at: server.updatedAt,
    })
    .onConflict(conflict => conflict.columns(['instance', 'name']).doNothing())
    .returning('name')
    .executeTakeFirst();
  if (!row) return false;
  await deleteAcceptedTools(db, { instance, name });
  publish(db, { kind: 'server-changed', instance, name });
  return true;
}

/** False when there is none of that name. */
export async function replaceServerOptions(
  db: Db,
  { instance, name, options, updatedAt }: Of & Pick<StoredServer, 'options' | 'updatedAt'>,
): Promise<boolean> {
  const row = await db
    .updateTable('servers')
    .set(eb => ({
      options: JSON.stringify(options),
      updated_at: updatedAt,
      revision: eb('revision', '+', 1),
    }))
    .where('instance', '=', instance)
    .where('name', '=', name)
    .returning('name')
    .executeTakeFirst();
  if (row) {
    await deleteKeptTools(db, { instance, name });
    publish(db, { kind: 'server-changed', instance, name });
  }
  return row !== undefined;
}

/** With the tools that were accepted of it. False when there is none of that name; the news is told all the same, for whoever missed it. */
export async function deleteServer(db: Db, { instance, name }: Of): Promise<boolean> {
  const row = await db
    .deleteFrom('servers')
    .where('instance', '=', instance)
    .where('name', '=', name)
    .returning('name')
    .executeTakeFirst();
  if (row) {
    await deleteAcceptedTools(db, { instance, name });
    await deleteKeptTools(db, { instance, name });
  }
  publish(db, { kind: 'server-changed', instance, name });
  return row !== undefined;
}

/** By the name of the tool. */
export async function listAcceptedTools(db: Db, { instance, name }: Of): Promise<AcceptedTool[]> {
  const rows = await db
    .selectFrom('accepted_tools')
    .selectAll()
    .where('instance', '=', instance)
    .where('server', '=', name)
    .orderBy('tool')
    .execute();
  return rows.map(row => ({
    tool: row.tool,
    digest: row.digest,
    snapshot: JSON.parse(row.snapshot),
    acceptedBy: row.accepted_by,
    acceptedAt: row.accepted_at,
  }));
}

/** Puts each in the place of what was accepted of that name before, or leaves what is there. */
export async function acceptTools(
  db: Db,
  { instance, name }: Of,
  tools: readonly AcceptedTool[],
  { replace }: { readonly replace: boolean },
): Promise<void> {
  for (let from = 0; from < tools.length; from += ROWS_AT_ONCE) {
    const rows = tools.slice(from, from + ROWS_AT_ONCE).map(accepted => ({
      instance,
      server: name,
      tool: accepted.tool,
      digest: accepted.digest,
      snapshot: JSON.stringify(accepted.snapshot),
      accepted_by: accepted.acceptedBy,
      accepted_at: accepted.acceptedAt,
    }));
    await db
      .insertInto('accepted_tools')
      .values(rows)
      .onConflict(conflict => {
        const sameTool = conflict.columns(['instance', 'server', 'tool']);
        if (!replace) return sameTool.doNothing();
        return sameTool.doUpdateSet(({ ref }) => ({
          digest: ref('excluded.digest'),
          snapshot: ref('excluded.snapshot'),
          accepted_by: ref('excluded.accepted_by'),
          accepted_at: ref('excluded.accepted_at'),
        }));
      })
      .execute();
  }
  publish(db, { kind: 'server-changed', instance, name });
}

/** Fewer than a statement may have values, on both engines. */
const ROWS_AT_ONCE = 1_000;

export async function deleteAcceptedTools(db: Db, { instance, name }: Of): Promise<void> {
  await db.deleteFrom('accepted_tools').where('instance', '=', instance).where('server', '=', name).execute();
}

function toServer(row: Schema['servers']): StoredServer {
  return {
    instance: row.instance,
    name: row.name,
    options: JSON.parse(row.options),
    revision: row.revision,
    createdBy: row.created_by,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
