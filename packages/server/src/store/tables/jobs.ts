import { sql } from 'kysely';
import { publish } from '../events.ts';
import { NOW } from '../now.ts';
import type { Schema } from '../schema.ts';
import type { Db, Engine } from '../store.ts';

/** The right to do a job. Every claim raises `fence`, so an older holder is recognised. */
export interface JobLease {
  readonly id: string;
  readonly fence: number;
}

/** A job as a worker gets it. */
export interface ClaimedJob {
  readonly lease: JobLease;
  readonly kind: string;
  /** JSON, read with each attempt: one that cannot be read is the trouble of its job alone. */
  readonly payload: string;
  readonly recurring: boolean;
  /** 1 for the first try. */
  readonly attempt: number;
}

/** A job for whichever node comes first, in the unit of what caused it. An id that is there already changes nothing. */
export async function addJob(
  db: Db,
  job: {
    readonly id: string;
    readonly kind: string;
    readonly payload: unknown;
    readonly delayMs?: number;
  },
): Promise<void> {
  const { id, kind, payload, delayMs = 0 } = job;
  await insertJob(db, { id, kind, payload: JSON.stringify(payload), every_ms: null }, delayMs);
  if (delayMs === 0) publish(db, { kind: 'job-added', job: kind });
}

/** One row a kind, however many nodes say so; the first run is due at once, each other one `everyMs` after the last. */
export async function ensureRecurringJob(
  db: Db,
  job: { readonly kind: string; readonly everyMs: number },
): Promise<void> {
  const { kind, everyMs } = job;
  await insertJob(db, { id: kind, kind, payload: 'null', every_ms: everyMs }, 0);
  await db
    .updateTable('jobs')
    .set({ every_ms: everyMs })
    .where('id', '=', kind)
    .where('every_ms', '<>', everyMs)
    .execute();
}

async function insertJob(
  db: Db,
  job: Pick<Schema['jobs'], 'id' | 'kind' | 'payload' | 'every_ms'>,
  delayMs: number,
): Promise<void> {
  await db
    .insertInto('jobs')
    .values({
      ...job,
      due_at: inMs(delayMs),
      holder: null,
      fence: 0,
      attempts: 0,
      last_error: null,
      dead_at: null,
      created_at: NOW,
    })
    .onConflict(conflict => conflict.column('id').doNothing())
    .execute();
}

/** Milliseconds until a job of these kinds may be taken, 0 or less when one may; `undefined` when there is none. */
export async function msUntilNextJob(db: Db, kinds: readonly string[]): Promise<number | undefined> {
  const row = await db
    .selectFrom('jobs')
    .select(eb => eb('due_at', '-', NOW).as('ms'))
    .where('kind', 'in', kinds)
    .where('dead_at', 'is', null)
    .orderBy('due_at')
    .limit(1)
    .executeTakeFirst();
  return row?.ms;
}

/** Jobs that are due, those waiting longest first, also of workers whose lease has ended. */
export async function claimJobs(
  db: Db,
  engine: Engine,
  claim: {
    readonly kinds: readonly string[];
    readonly holder: string;
    readonly leaseMs: number;
    readonly limit: number;
  },
): Promise<ClaimedJob[]> {
  const rows = await db
    .with(
      // Looked up once: joined, the server might run it again and lock more than the limit.
      cte => cte('due').materialized(),
      query => {
        const due = query
          .selectFrom('jobs')
          .select('id')
          .where('kind', 'in', claim.kinds)
          .where('dead_at', 'is', null)
          // A query of its own gives one value to search the index with; the function alone would be asked for every row.
          .where('due_at', '<=', sql<number>`(select ${NOW})`)
          .orderBy('due_at')
          .limit(claim.limit);
        return engine.skipsLocked ? due.forUpdate().skipLocked() : due;
      },
    )
    .updateTable('jobs')
    .set(eb => ({
      due_at: inMs(claim.leaseMs),
      holder: claim.holder,
      fence: eb('fence', '+', 1),
      attempts: eb('attempts', '+', 1),
    }))
    .where('id', 'in', eb => eb.selectFrom('due').select('due.id'))
    .returning(['id', 'fence', 'kind', 'payload', 'every_ms', 'attempts'])
    .execute();
  return rows.map(row => ({
    lease: { id: row.id, fence: row.fence },
    kind: row.kind,
    payload: row.payload,
    recurring: row.every_ms !== null,
    attempt: row.attempts,
  }));
}

/** False when the lease is lost. */
export async function renewJobLease(db: Db, lease: JobLease, leaseMs: number): Promise<boolean> {
  const row = await db
    .updateTable('jobs')
    .set({ due_at: inMs(leaseMs) })
    .where(eb => eb.and({ ...lease }))
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** The job is done: gone, or due again after its time. False when the lease is lost: then somebody else does it. */
export async function completeJob(db: Db, { lease, recurring }: ClaimedJob): Promise<boolean> {
  if (recurring) return scheduleNextRun(db, lease, null);
  const row = await db
    .deleteFrom('jobs')
    .where(eb => eb.and({ ...lease }))
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** It did not work and is tried again after `delayMs`. False when the lease is lost. */
export function retryJob(
  db: Db,
  lease: JobLease,
  retry: { readonly delayMs: number; readonly error: string },
): Promise<boolean> {
  return giveBack(db, lease, { due_at: inMs(retry.delayMs), last_error: retry.error });
}

/** Nothing was done and another worker may try at once. False when the lease is lost. */
export function releaseJob(db: Db, lease: JobLease): Promise<boolean> {
  return giveBack(db, lease, { due_at: NOW, attempts: sql<number>`attempts - 1` });
}

/** A job that waits for its time may run at once. One that runs, or is not there, is left alone. */
export async function hurryJob(db: Db, job: { readonly id: string; readonly kind: string }): Promise<void> {
  await db
    .updateTable('jobs')
    .set({ due_at: NOW })
    .where('id', '=', job.id)
    .where('holder', 'is', null)
    .where('dead_at', 'is', null)
    .execute();
  publish(db, { kind: 'job-added', job: job.kind });
}

/** It waits for something and is due again after `delayMs`, with no attempt spent. False when the lease is lost. */
export function postponeJob(db: Db, lease: JobLease, delayMs: number): Promise<boolean> {
  return giveBack(db, lease, { due_at: inMs(delayMs), attempts: sql<number>`attempts - 1` });
}

/** It is given up: a job that is done once stays as dead, a recurring one waits for its next time. */
export function buryJob(db: Db, { lease, recurring }: ClaimedJob, error: string): Promise<boolean> {
  if (recurring) return scheduleNextRun(db, lease, error);
  return giveBack(db, lease, { dead_at: NOW, last_error: error });
}

/** Frees what a node held when it went down. The raised fence shuts out whatever of it may still be running. */
export async function releaseJobsOf(db: Db, holder: string): Promise<void> {
  await db
    .updateTable('jobs')
    .set(eb => ({ due_at: NOW, holder: null, fence: eb('fence', '+', 1) }))
    .where('holder', '=', holder)
    .execute();
}

function scheduleNextRun(db: Db, lease: JobLease, error: string | null): Promise<boolean> {
  return giveBack(db, lease, { due_at: sql<number>`${NOW} + every_ms`, attempts: 0, last_error: error });
}

async function giveBack(
  db: Db,
  lease: JobLease,
  change: Partial<Record<'due_at' | 'attempts' | 'last_error' | 'dead_at', unknown>>,
): Promise<boolean> {
  const row = await db
    .updateTable('jobs')
    // A renewal that is still under way must not move it again.
    .set(eb => ({ ...(change as object), holder: null, fence: eb('fence', '+', 1) }))
    .where(eb => eb.and({ ...lease }))
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** A time from now on. Written into the text, not passed: a parameter beside a function has no type of its own. */
function inMs(ms: number) {
  return sql<number>`${NOW} + ${sql.lit(ms)}`;
}
