import { sql } from 'kysely';
import { PlatformError } from '../kernel/errors.ts';
import { openPostgres } from '../store/engines/postgres.ts';
import type { Db } from '../store/store.ts';
import { type Remark, shellWord } from './finding.ts';
import { CLOCKS_APART_MS, type DatabaseFound, duration, examineTables, SET_CLOCK } from './tables.ts';

/** Does a PostgreSQL server answer, soon, and let a platform work there? */
export async function examinePostgresServer(url: string, now: () => number): Promise<DatabaseFound> {
  const clock = { now, sleep: () => Promise.reject(new Error('nobody waits here')) };
  let opened: Awaited<ReturnType<typeof openPostgres>>;
  try {
    opened = await openPostgres({ url, clock });
  } catch (error) {
    return { remarks: [unreachable(url, error)], clock: [] };
  }
  try {
    const { db } = opened;
    const session = await readSession(db);
    const found = await examineTables(db, {
      name: `The database ${databaseOf(url)}`,
      described: `The PostgreSQL database ${databaseOf(url)} answers`,
      ownDatabase: `createdb ${connectionOptions(url)} patchbay`,
      schema: session.schema ?? undefined,
      now,
    });
    const complaints = [rightsRemark(session, url), await slowness(db)].filter(
      remark => remark !== undefined,
    );
    const others = found.remarks.filter(({ verdict }) => complaints.length === 0 || verdict !== 'ok');
    return {
      ...found,
      remarks: [...complaints, ...others],
      clock: [await serverClock(db, now), ...found.clock],
    };
  } catch (error) {
    const says = `The database of PATCHBAY_DATABASE_URL cannot be looked at: ${(error as Error).message}.`;
    return { remarks: [{ verdict: 'problem', says }], clock: [] };
  } finally {
    await opened.close();
  }
}

/** The code of the server or the network, from under what the store made of it. */
function codeOf(error: unknown): unknown {
  if (!(error instanceof Error)) return undefined;
  const own = 'code' in error && !(error instanceof PlatformError) ? error.code : undefined;
  return own ?? codeOf(error.cause);
}

/** Reasons a server gives, by its code or the network's; anything else is told as the platform tells it. */
function unreachable(url: string, error: unknown): Remark {
  const refused = error instanceof PlatformError ? error : undefined;
  const { hostname, port, username } = new URL(url);
  const at = `${hostname || 'this machine'}${port ? `:${port}` : ''}`;
  switch (codeOf(error)) {
    case '3D000': {
      const says = `The PostgreSQL server at ${at} has no database ${databaseOf(url)}.`;
      return {
        verdict: 'problem',
        says,
        mend: `createdb ${connectionOptions(url)} ${shellWord(databaseOf(url))}`,
      };
    }
    case '28P01':
    case '28000': {
      const says = `The PostgreSQL server at ${at} does not let ${decodeURIComponent(username) || 'this user'} in; correct user and password in PATCHBAY_DATABASE_URL.`;
      return { verdict: 'problem', says };
    }
    case '53300': {
      const says = `The PostgreSQL server at ${at} has no connection left; each node of Patchbay wants 11, so raise max_connections or end other programs.`;
      return { verdict: 'problem', says };
    }
    case 'ECONNREFUSED': {
      const says = `No PostgreSQL server listens at ${at}; start it, or correct PATCHBAY_DATABASE_URL.`;
      return { verdict: 'problem', says };
    }
    case 'ENOTFOUND':
    case 'EAI_AGAIN': {
      const says = `There is no machine named ${hostname}; correct PATCHBAY_DATABASE_URL.`;
      return { verdict: 'problem', says };
    }
    default:
      return {
        verdict: 'problem',
        says: refused?.message ?? 'The database of PATCHBAY_DATABASE_URL cannot be reached.',
      };
  }
}

function databaseOf(url: string): string {
  const { pathname, username } = new URL(url);
  return decodeURIComponent(pathname.slice(1)) || decodeURIComponent(username);
}

/** For the programs that come with PostgreSQL: never the password. Whoever owns the database says themselves who they are. */
function connectionOptions(url: string, as: 'this user' | 'as its owner' = 'this user'): string {
  const { hostname, port, username } = new URL(url);
  return [
    ...(hostname ? ['-h', shellWord(hostname)] : []),
    ...(port ? ['-p', port] : []),
    ...(username && as === 'this user' ? ['-U', shellWord(decodeURIComponent(username))] : []),
  ].join(' ');
}

const SLOW_MS = 30;

/** A turn asks the database several times, one after another. */
async function slowness(db: Db): Promise<Remark | undefined> {
  const times: number[] = [];
  for (let i = 0; i < 5; i++) {
    const startedAt = performance.now();
    await sql`select 1`.execute(db);
    times.push(performance.now() - startedAt);
  }
  const best = Math.min(...times);
  if (best < SLOW_MS) return undefined;
  const says = `The database takes ${Math.round(best)} ms to answer the shortest question, and every turn asks several; let the platform run near it.`;
  return { verdict: 'warning', says };
}

/** What the server says of us. */
interface Session {
  /** Where tables are made; null when nothing of the search path is there. */
  readonly schema: string | null;
  readonly user: string;
  readonly may_create: number | null;
  readonly is_replica: number;
  readonly read_only: string;
}

async function readSession(db: Db): Promise<Session> {
  const { rows } = await sql<Session>`select current_schema() as schema, current_user as user,
    has_schema_privilege(current_schema(), 'create') as may_create, pg_is_in_recovery() as is_replica,
    current_setting('default_transaction_read_only') as read_only`.execute(db);
  return rows[0]!;
}

/** Since PostgreSQL 15 nobody but the owner of a database may make tables in it until told so. */
function rightsRemark(session: Session, url: string): Remark | undefined {
  const { schema, user, may_create, is_replica, read_only } = session;
  const database = databaseOf(url);
  if (is_replica || read_only === 'on') {
    const why = is_replica ? ': its server is a replica' : '';
    const says = `The database ${database} can only be read${why}; name one that can be written in PATCHBAY_DATABASE_URL.`;
    return { verdict: 'problem', says };
  }
  if (may_create) return undefined;
  const grant = `grant usage, create on schema ${schema ?? 'public'} to "${user.replaceAll('"', '""')}"`;
  return {
    verdict: 'problem',
    says: `The user ${user} may not make tables in the database ${database}; its owner can allow it.`,
    mend: `psql ${connectionOptions(url, 'as its owner')} -d ${shellWord(database)} -c ${shellWord(grant)}`,
  };
}

async function serverClock(db: Db, now: () => number): Promise<Remark> {
  const before = now();
  const { rows } = await sql<{ at: number }>`
    select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as at`.execute(db);
  const apart = (before + now()) / 2 - rows[0]!.at;
  if (Math.abs(apart) < CLOCKS_APART_MS) {
    return { verdict: 'ok', says: 'The clocks of this machine and of the database agree.' };
  }
  const which = apart > 0 ? 'ahead of' : 'behind';
  const says = `The clock of this machine is ${duration(Math.abs(apart))} ${which} the database's: keys and sessions end at the wrong time. Set both by the network.`;
  return { verdict: 'warning', says, mend: SET_CLOCK };
}
