import type { Clock } from '../kernel/clock.ts';
import type { Logger } from '../kernel/logger.ts';
import { redactText } from '../kernel/redact.ts';
import type { Db, Store } from './store.ts';
import {
  buryJob,
  type ClaimedJob,
  claimJobs,
  completeJob,
  ensureRecurringJob,
  msUntilNextJob,
  postponeJob,
  releaseJob,
  releaseJobsOf,
  renewJobLease,
  retryJob,
} from './tables/jobs.ts';

/** `againInMs`: the job could not do its work yet and asks to be run again then; that costs no attempt. */
// biome-ignore lint/suspicious/noConfusingVoidType: what does a job mostly answers nothing
export type JobResult = void | { readonly againInMs: number };

/** What is done for the jobs of one kind. */
export interface JobKind {
  /**
   * Does one job, at least once: after a crash, a lost lease or an error it runs again, so it must find its own work done.
   * `isLastTry`: an error now has the job given up. The signal aborts when the node stops or another one has taken the job over; ending early then costs no attempt.
   */
  run(payload: unknown, signal: AbortSignal, isLastTry: boolean): Promise<JobResult>;
  /** Makes it work that comes back by itself, once for all nodes together: so long after each run. */
  readonly everyMs?: number;
}

/** `lost`: another worker has the job, because this one fell silent for longer than its lease. */
export type JobOutcome = 'done' | 'failed' | 'dead' | 'lost';

/** The workers of one node. */
export interface Jobs {
  /** Frees what this node held when it went down, and begins to work. */
  start(): Promise<void>;
  /** Takes nothing more and waits for what runs, for some seconds at the most. */
  stop(): Promise<void>;
}

const MAX_ATTEMPTS = 5;
/** Each retry waits so many times as long as the one before. */
const RETRY_GROWTH = 4;
const MAX_RETRY_MS = 300_000;
/** When others are just taking what is due. */
const LOOK_AGAIN_MS = 100;
const STOP_WITHIN_MS = 10_000;
const MAX_ERROR_CHARS = 500;

/** Nobody sees it; a reason of our own spares the abort an error with a stack. */
const RUNG = Symbol('rung');

/**
 * Works on the jobs of the table, together with every other node: claimed with a lease on the database's time, renewed while
 * they run, and ended behind the fence of the claim, so that of two workers one counts. The table is asked again and again;
 * events only say that it is worth while to ask at once.
 */
export function createJobs(deps: {
  readonly store: Store;
  readonly clock: Clock;
  /** Names this node in leases; the same after a restart. */
  readonly nodeId: string;
  readonly kinds: Readonly<Record<string, JobKind>>;
  readonly logger?: Logger | undefined;
  /** Told how each run ended. */
  readonly onEnd?: ((kind: string, outcome: JobOutcome) => void) | undefined;
  /** Jobs at a time on this node. */
  readonly concurrency?: number;
  /** A job of a node that died is taken over after it. */
  readonly leaseMs?: number;
  /** How long an event may be late. */
  readonly pollMs?: number;
  /** How long the first retry waits. */
  readonly retryMs?: number;
}): Jobs {
  const { store, clock, nodeId, kinds, logger, onEnd } = deps;
  const { concurrency = 4, leaseMs = 5_000, pollMs = 2_000, retryMs = 1_000 } = deps;
  const kindNames = Object.keys(kinds);
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  let bell = new AbortController();
  let working: Promise<void> | undefined;
  let unsubscribe = () => {};

  const ring = () => bell.abort(RUNG);

  async function work(): Promise<void> {
    while (!stopping.signal.aborted) {
      // Before looking: what rings meanwhile must not be slept over.
      bell = new AbortController();
      const waitMs = await takeDue().catch(error => {
        logger?.warn('Jobs cannot be taken for now', { error });
        return pollMs;
      });
      if (stopping.signal.aborted) return;
      await clock.sleep(waitMs, bell.signal).catch(() => {});
    }
  }

  /** Starts what is due, as far as there is room, and says when to look again at the latest. */
  async function takeDue(): Promise<number> {
    const limit = concurrency - running.size;
    // Whatever ends rings.
    if (limit === 0) return pollMs;
    const next = (await msUntilNextJob(store.db, kindNames)) ?? pollMs;
    if (next > 0) return Math.min(next, pollMs);
    const claimed = await store.commit(db =>
      claimJobs(db, store.engine, { kinds: kindNames, holder: nodeId, leaseMs, limit }),
    );
    for (const job of claimed) {
      const run = runJob(job).finally(() => {
        running.delete(run);
        ring();
      });
      running.add(run);
    }
    return claimed.length === 0 ? LOOK_AGAIN_MS : 0;
  }

  /** Never rejects: a job that could not be ended is due again when its lease is over. */
  async function runJob(job: ClaimedJob): Promise<void> {
    const { kind } = job;
    const { id } = job.lease;
    const over = new AbortController();
    const lost = new AbortController();
    const renewing = renewAgainAndAgain(job, over.signal, lost);
    try {
      const outcome = await attempt(job, AbortSignal.any([stopping.signal, lost.signal]));
      if (outcome !== undefined) onEnd?.(kind, outcome);
    } catch (error) {
      logger?.warn('A job could not be ended; it runs again after its lease', { kind, id, error });
    } finally {
      over.abort(RUNG);
      await renewing;
    }
  }

  /** `undefined` when it was given back with nothing done. */
  async function attempt(job: ClaimedJob, signal: AbortSignal): Promise<JobOutcome | undefined> {
    const { kind, lease, attempt } = job;
    const log = { kind, id: lease.id, attempt };
    const end = async (outcome: JobOutcome | undefined, unit: (db: Db) => Promise<boolean>) =>
      (await store.commit(unit)) ? outcome : 'lost';
    if (attempt > MAX_ATTEMPTS) {
      logger?.error('A job was given up: each worker that had it went down', log);
      return end('dead', db => buryJob(db, job, 'Each worker that had it went down.'));
    }
    let again: JobResult;
    try {
      again = await kinds[kind]!.run(JSON.parse(job.payload), signal, attempt === MAX_ATTEMPTS);
    } catch (error) {
      if (stopping.signal.aborted) return end(undefined, db => releaseJob(db, lease));
      const text = redactText(error instanceof Error ? error.message : String(error)).slice(
        0,
        MAX_ERROR_CHARS,
      );
      if (attempt === MAX_ATTEMPTS) {
        logger?.error('A job was given up', { ...log, error });
        return end('dead', db => buryJob(db, job, text));
      }
      logger?.warn('A job failed and will be tried again', { ...log, error });
      const delayMs = Math.min(retryMs * RETRY_GROWTH ** (attempt - 1), MAX_RETRY_MS);
      return end('failed', db => retryJob(db, lease, { delayMs, error: text }));
    }
    if (again) {
      const { againInMs } = again;
      return end(undefined, db => postponeJob(db, lease, againInMs));
    }
    return end('done', db => completeJob(db, job));
  }

  async function renewAgainAndAgain(
    job: ClaimedJob,
    over: AbortSignal,
    lost: AbortController,
  ): Promise<void> {
    for (;;) {
      await clock.sleep(leaseMs / 3, over).catch(() => {});
      if (over.aborted) return;
      // A renewal that fails is no reason to stop: the end is fenced, and the next renewal may work.
      const renewed = await store.commit(db => renewJobLease(db, job.lease, leaseMs)).catch(() => true);
      if (!renewed) return lost.abort(RUNG);
    }
  }

  return {
    async start() {
      await store.commit(async db => {
        await releaseJobsOf(db, nodeId);
        for (const [kind, { everyMs }] of Object.entries(kinds)) {
          if (everyMs !== undefined) await ensureRecurringJob(db, { kind, everyMs });
        }
      });
      unsubscribe = store.subscribe(event => {
        if (event.kind === 'resync' || (event.kind === 'job-added' && kindNames.includes(event.job))) ring();
      });
      working = work();
    },

    async stop() {
      unsubscribe();
      stopping.abort(RUNG);
      ring();
      await working;
      const ended = new AbortController();
      const late = clock.sleep(STOP_WITHIN_MS, ended.signal).catch(() => {});
      await Promise.race([Promise.all(running), late]);
      ended.abort(RUNG);
      if (running.size > 0) logger?.warn('Jobs are left to their leases', { jobs: running.size });
    },
  };
}
