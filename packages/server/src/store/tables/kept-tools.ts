import { publish } from '../events.ts';
import type { Db } from '../store.ts';

interface Of {
  readonly instance: string;
  readonly name: string;
}

/** A tool of a server that each person reaches by themselves, as somebody saw it last; `tool` is plain JSON. */
export interface KeptTool {
  readonly tool: unknown;
  /** Epoch ms. */
  readonly seenAt: number;
}

export async function findKeptTools(
  db: Db,
  { instance, name }: Of,
): Promise<readonly KeptTool[] | undefined> {
  const row = await db
    .selectFrom('kept_tools')
    .select('tools')
    .where('instance', '=', instance)
    .where('server', '=', name)
    .executeTakeFirst();
  return row && (JSON.parse(row.tools) as KeptTool[]);
}

/** All of a server's, in the place of those before. */
export async function replaceKeptTools(
  db: Db,
  { instance, name }: Of,
  { tools, at }: { readonly tools: readonly KeptTool[]; readonly at: number },
): Promise<void> {
  const changing = { tools: JSON.stringify(tools), listed_at: at };
  await db
    .insertInto('kept_tools')
    .values({ instance, server: name, ...changing })
    .onConflict(conflict => conflict.columns(['instance', 'server']).doUpdateSet(changing))
    .execute();
  publish(db, { kind: 'server-changed', instance, name });
}

/** The server is gone, or another one by that name. */
export async function deleteKeptTools(db: Db, { instance, name }: Of): Promise<void> {
  await db.deleteFrom('kept_tools').where('instance', '=', instance).where('server', '=', name).execute();
}
