import { sql } from 'kysely';
import { MIGRATIONS } from '../store/migrations/migrations.ts';
import type { Db } from '../store/store.ts';
import { type Contents, readContents } from './contents.ts';
import type { Remark } from './finding.ts';

/** What is to be said of a database of either kind. */
export interface DatabaseFound {
  readonly remarks: readonly Remark[];
  /** Of this machine's clock beside the times in the database. */
  readonly clock: readonly Remark[];
  /** Read only from tables that are exactly those of this program. */
  readonly contents?: Contents | undefined;
}

/** Clocks that differ by less may just have been read at different moments. */
export const CLOCKS_APART_MS = 5_000;
export const SET_CLOCK = 'sudo timedatectl set-ntp true';

/** Are these our tables, of this version, with times that can be? The same for both engines; reads only. */
export async function examineTables(
  db: Db,
  about: {
    /** Begins a sentence. */
    readonly name: string;
    readonly described: string;
    /** The command that makes room for a database of our own. */
    readonly ownDatabase: string;
    /** Where the tables are, in databases that have schemas. */
    readonly schema?: string | undefined;
    readonly now: () => number;
  },
): Promise<DatabaseFound> {
  const tables = await columnsByTable(db, about.schema);
  if (tables.size === 0) {
    const says = `${about.name} is empty; the first start makes the tables.`;
    return { remarks: [{ verdict: 'ok', says }], clock: [] };
  }
  const applied = tables.get('migrations')?.has('number') ? await appliedMigrations(db) : undefined;
  const isOurs = applied?.every((name, index) => name === (MIGRATIONS[index]?.name ?? name));
  if (!applied || !isOurs) {
    const says = `${about.name} holds the tables of another program; give Patchbay one of its own.`;
    return { remarks: [{ verdict: 'problem', says, mend: about.ownDatabase }], clock: [] };
  }
  if (applied.length > MIGRATIONS.length) {
    const says = `${about.name} was made by a newer Patchbay (its migration ${applied.length}, this one knows ${MIGRATIONS.length}): bring this one up to date.`;
    return { remarks: [{ verdict: 'problem', says, mend: 'git pull && npm ci' }], clock: [] };
  }
  const clock = await ownClock(db, about.now());
  if (applied.length < MIGRATIONS.length) {
    const says = `${about.name} is of an older Patchbay; the next start brings it up to date. Make a copy of it before.`;
    return { remarks: [{ verdict: 'warning', says, mend: 'npx patchbay up' }], clock };
  }
  return {
    remarks: [{ verdict: 'ok', says: `${about.described} and has the tables of this version.` }],
    clock,
    contents: await readContents(db, about.now()),
  };
}

async function columnsByTable(db: Db, schema: string | undefined): Promise<Map<string, ReadonlySet<string>>> {
  const tables = (await db.introspection.getTables()).filter(table => table.schema === schema);
  return new Map(tables.map(({ name, columns }) => [name, new Set(columns.map(column => column.name))]));
}

async function appliedMigrations(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select name from migrations order by number`.execute(db);
  return rows.map(({ name }) => name);
}

/** The times that are stored are this machine's or its fellows': one in the future says that a clock was or is wrong. */
async function ownClock(db: Db, now: number): Promise<Remark[]> {
  const { rows } = await sql<{ at: number | null }>`select max(at) as at from (
    select max(applied_at) as at from migrations union all
    select max(modified_at) as at from documents union all
    select max(created_at) as at from keys) as times`.execute(db);
  const ahead = (rows[0]?.at ?? 0) - now;
  if (ahead < CLOCKS_APART_MS) return [];
  const says = `The database was last changed ${duration(ahead)} in the future: the clock of this machine is behind, or was ahead then.`;
  return [{ verdict: 'warning', says, mend: SET_CLOCK }];
}

/** As people say it. */
export function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} seconds`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} minutes`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} hours` : `${Math.round(seconds / 86_400)} days`;
}
