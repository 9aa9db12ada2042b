import { type Kysely, sql } from 'kysely';
import { PlatformError } from '../../kernel/errors.ts';
import type { MigrationWords, OpenedEngine } from '../engines/opened-engine.ts';
import { NOW } from '../now.ts';
import type { Db } from '../store.ts';
import { foundation } from './0001-foundation.ts';
import { turns } from './0002-turns.ts';
import { secrets } from './0003-secrets.ts';
import { records } from './0004-records.ts';
import { deployment } from './0005-deployment.ts';
import { filesAndTasks } from './0006-files-and-tasks.ts';
import { memory } from './0007-memory.ts';
import { servers } from './0008-servers.ts';
import { toolApprovals } from './0009-tool-approvals.ts';
import { access } from './0010-access.ts';

/** One step of the tables' history. What has been released is never changed; a new number follows. */
export interface Migration {
  readonly name: string;
  up(db: Db, words: MigrationWords): Promise<void>;
}

/** In order; the position, counted from 1, is the number. */
export const MIGRATIONS: readonly Migration[] = [
  foundation,
  turns,
  secrets,
  records,
  deployment,
  filesAndTasks,
  memory,
  servers,
  toolApprovals,
  access,
];

interface Applied {
  migrations: { number: number; name: string; applied_at: number };
}

/**
 * Runs what is missing, all of it or nothing, while every other node waits.
 * Rejects with a `PlatformError` when the database has migrations this program does not know.
 */
export async function migrate(opened: OpenedEngine, migrations = MIGRATIONS): Promise<void> {
  const { int, text, tableEnd } = opened.words;
  await opened.exclusively(async db => {
    await sql`create table if not exists migrations (
      number ${int} not null primary key,
      name ${text} not null,
      applied_at ${int} not null
    ) ${tableEnd}`.execute(db);
    const applied = db as unknown as Kysely<Applied>;
    const last = await applied
      .selectFrom('migrations')
      .select('number')
      .orderBy('number', 'desc')
      .limit(1)
      .executeTakeFirst();
    const done = last?.number ?? 0;
    if (done > migrations.length) {
      throw new PlatformError(
        'unavailable',
        `The database was made by a newer Patchbay (its migration ${done}, this program knows ${migrations.length}): start that version or a later one.`,
      );
    }
    for (const [index, migration] of migrations.entries()) {
      if (index < done) continue;
      await migration.up(db, opened.words);
      await applied
        .insertInto('migrations')
        .values({ number: index + 1, name: migration.name, applied_at: NOW })
        .execute();
    }
  });
}
