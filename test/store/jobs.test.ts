import { engines, openTestStore, type TestStore } from '@patchbay/testing/stores';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../packages/server/src/kernel/clock.ts';
import { createJobs, type JobKind, type JobOutcome } from '../../packages/server/src/store/jobs.ts';
import {
  addJob,
  claimJobs,
  completeJob,
  releaseJobsOf,
  renewJobLease,
  retryJob,
} from '../../packages/server/src/store/tables/jobs.ts';

type Run = JobKind['run'];
const never: Run = (_payload, signal) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

/** The workers of one node, told apart by name, with the outcomes of their runs. */
async function startNode(
  store: TestStore,
  nodeId: string,
  run: Run,
  options: Partial<Parameters<typeof createJobs>[0]> & { everyMs?: number } = {},
) {
  const outcomes: JobOutcome[] = [];
  const { everyMs, ...rest } = options;
  const jobs = createJobs({
    store,
    clock: systemClock,
    nodeId,
    kinds: { work: { run, ...(everyMs !== undefined && { everyMs }) } },
    onEnd: (_kind, outcome) => outcomes.push(outcome),
    leaseMs: 300,
    pollMs: 200,
    retryMs: 5,
    ...rest,
  });
  await jobs.start();
  return { outcomes, [Symbol.asyncDispose]: jobs.stop };
}

const add = (store: TestStore, id: string, more: { payload?: unknown; delayMs?: number } = {}) =>
  store.commit(db => addJob(db, { id, kind: 'work', payload: null, ...more }));
const rows = (store: TestStore) => store.db.selectFrom('jobs').selectAll().orderBy('id').execute();
const claim = (store: TestStore, holder: string, limit = 10, leaseMs = 60_000) =>
  store.commit(db => claimJobs(db, store.engine, { kinds: ['work'], holder, leaseMs, limit }));

describe.each(engines)('jobs on %s', engine => {
  it('are done with their payload, at once, and are gone', async () => {
    await using store = await openTestStore(engine);
    const seen: unknown[] = [];
    await using node = await startNode(store, 'a', async payload => void seen.push(payload), {
      pollMs: 60_000,
    });
    await add(store, 'one', { payload: { to: 'ann' } });
    await expect.poll(() => node.outcomes, { timeout: 500 }).toEqual(['done']);
    expect(seen).toEqual([{ to: 'ann' }]);
    expect(await rows(store)).toEqual([]);
  });

  it('are added with the unit that caused them, once an id', async () => {
    await using store = await openTestStore(engine);
    const failing = store.commit(async db => {
      await addJob(db, { id: 'undone', kind: 'work', payload: null });
      throw new Error('on second thoughts');
    });
    await expect(failing).rejects.toThrow();
    await add(store, 'one', { payload: 1 });
    await add(store, 'one', { payload: 2 });
    expect(await rows(store)).toMatchObject([{ id: 'one', payload: '1' }]);
  });

  it('wait for their time', async () => {
    await using store = await openTestStore(engine);
    await using node = await startNode(store, 'a', async () => {});
    await add(store, 'one', { delayMs: 300 });
    await systemClock.sleep(150);
    expect(node.outcomes).toEqual([]);
    await expect.poll(() => node.outcomes).toEqual(['done']);
  });

  it('that cannot do their work yet are run again when they say, as often as it takes', async () => {
    await using store = await openTestStore(engine);
    let runs = 0;
    await using node = await startNode(store, 'a', async () => {
      runs += 1;
      return runs < 8 ? { againInMs: 5 } : undefined;
    });
    await add(store, 'one');
    await expect.poll(() => node.outcomes, { timeout: 5_000 }).toEqual(['done']);
    expect(runs).toBe(8);
    expect(await rows(store)).toEqual([]);
  });

  it('run again after an error, later each time, until they are given up and kept for people', async () => {
    await using store = await openTestStore(engine);
    const at: number[] = [];
    await using node = await startNode(store, 'a', async () => {
      at.push(performance.now());
      throw new Error(`no: key=sk-abcdefghijklmnopqrstuvwxyz0123456789 ${'x'.repeat(1_000)}`);
    });
    await add(store, 'one');
    await expect.poll(() => node.outcomes, { timeout: 5_000 }).toHaveLength(5);
    expect(node.outcomes).toEqual(['failed', 'failed', 'failed', 'failed', 'dead']);
    const waits = at.slice(1).map((time, index) => time - at[index]!);
    for (const [index, atLeast] of [5, 20, 80, 320].entries())
      expect(waits[index]).toBeGreaterThanOrEqual(atLeast - 2);
    const [dead] = await rows(store);
    expect(dead).toMatchObject({ id: 'one', attempts: 5, holder: null });
    expect(dead!.dead_at).toBeGreaterThan(0);
    expect(dead!.last_error).toMatch(/^no: /);
    expect(dead!.last_error).not.toContain('sk-abcdef');
    expect(dead!.last_error!.length).toBeLessThanOrEqual(500);
    expect(await claim(store, 'b')).toEqual([]);
  });

  it('with a payload nobody can read are given up alone', async () => {
    await using store = await openTestStore(engine);
    await add(store, 'odd');
    await store.db.updateTable('jobs').set({ payload: '{"half' }).execute();
    await add(store, 'one');
    await add(store, 'two');
    await using node = await startNode(store, 'a', async () => {});
    await expect.poll(() => node.outcomes.filter(outcome => outcome === 'done')).toHaveLength(2);
    await expect.poll(() => node.outcomes, { timeout: 5_000 }).toContain('dead');
    expect(await rows(store)).toMatchObject([{ id: 'odd', last_error: expect.stringContaining('JSON') }]);
  });

  it('are given up when each worker that had them went down', async () => {
    await using store = await openTestStore(engine);
    await add(store, 'one');
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      expect(await claim(store, 'poisoned')).toMatchObject([{ attempt }]);
      await store.commit(db => releaseJobsOf(db, 'poisoned'));
    }
    let ran = false;
    await using node = await startNode(store, 'a', async () => {
      ran = true;
    });
    await expect.poll(() => node.outcomes).toEqual(['dead']);
    expect(ran).toBe(false);
  });

  it('are at most so many at a time, and none waits while there is room', async () => {
    await using store = await openTestStore(engine);
    let now = 0;
    let most = 0;
    await using node = await startNode(
      store,
      'a',
      async () => {
        most = Math.max(most, ++now);
        await systemClock.sleep(10);
        now -= 1;
      },
      { concurrency: 3, pollMs: 60_000 },
    );
    await Promise.all(Array.from({ length: 20 }, (_, index) => add(store, String(index))));
    await expect.poll(() => node.outcomes.length).toBe(20);
    expect(most).toBe(3);
  });

  it('stay with a worker that takes longer than its lease', async () => {
    await using store = await openTestStore(engine);
    let runs = 0;
    const slow: Run = async () => {
      runs += 1;
      await systemClock.sleep(1_000);
    };
    await using one = await startNode(store, 'a', slow);
    await using other = await startNode(store, 'b', slow);
    await add(store, 'one');
    await expect.poll(() => [...one.outcomes, ...other.outcomes], { timeout: 5_000 }).toEqual(['done']);
    expect(runs).toBe(1);
  });

  it('of a silent worker are taken over after the lease, and it can end them no more', async () => {
    await using store = await openTestStore(engine);
    await add(store, 'one');
    const [silent] = await claim(store, 'silent', 1, 100);
    await using node = await startNode(store, 'a', never);
    await expect.poll(async () => (await rows(store))[0]?.holder).toBe('a');
    const { lease } = silent!;
    expect(await store.commit(db => renewJobLease(db, lease, 60_000))).toBe(false);
    expect(await store.commit(db => completeJob(db, silent!))).toBe(false);
    expect(await store.commit(db => retryJob(db, lease, { delayMs: 0, error: '' }))).toBe(false);
    expect((await rows(store))[0]?.holder).toBe('a');
    expect(node.outcomes).toEqual([]);
  });

  it('that were taken over are stopped where they still run', async () => {
    await using store = await openTestStore(engine);
    await using node = await startNode(store, 'a', never);
    await add(store, 'one');
    await expect.poll(async () => (await rows(store))[0]?.holder).toBe('a');
    // Another node found the lease ended: this process was stopped for a while, or its clock ran away.
    await store.db.updateTable('jobs').set({ fence: 99, holder: 'b', due_at: 9e15 }).execute();
    await expect.poll(() => node.outcomes).toEqual(['lost']);
    expect((await rows(store))[0]).toMatchObject({ fence: 99, holder: 'b' });
  });

  it('are given back when the node stops, without counting the attempt', async () => {
    await using store = await openTestStore(engine);
    await add(store, 'one');
    {
      await using _node = await startNode(store, 'a', never);
      await expect.poll(async () => (await rows(store))[0]?.holder).toBe('a');
    }
    expect(await rows(store)).toMatchObject([{ attempts: 0, holder: null }]);
    expect(await claim(store, 'b')).toMatchObject([{ attempt: 1 }]);
  });

  it('of a node that went down are free when it starts again', async () => {
    await using store = await openTestStore(engine);
    await add(store, 'one');
    await claim(store, 'a');
    await using node = await startNode(store, 'a', async () => {});
    await expect.poll(() => node.outcomes).toEqual(['done']);
  });

  it('of a kind this node does not know are left to others', async () => {
    await using store = await openTestStore(engine);
    await store.commit(db => addJob(db, { id: 'later', kind: 'of a newer version', payload: null }));
    await using node = await startNode(store, 'a', async () => {});
    await add(store, 'one');
    await expect.poll(() => node.outcomes).toEqual(['done']);
    expect(await rows(store)).toMatchObject([{ id: 'later', attempts: 0 }]);
  });

  it('that come back run once for all nodes, again after their time, and also after errors', async () => {
    await using store = await openTestStore(engine);
    const runs: string[] = [];
    const run = (name: string): Run => {
      return async () => {
        runs.push(name);
        if (runs.length > 1) throw new Error('no');
      };
    };
    const options = { everyMs: 400 };
    await using _one = await startNode(store, 'a', run('a'), options);
    await using _other = await startNode(store, 'b', run('b'), options);
    await systemClock.sleep(300);
    expect(runs).toHaveLength(1);
    // Five tries 5, 20, 80 and 320 ms apart, and then the next regular time.
    await expect.poll(() => runs.length, { timeout: 10_000 }).toBeGreaterThanOrEqual(7);
    expect(await rows(store)).toMatchObject([{ id: 'work', dead_at: null }]);
  });

  it('that come back follow the interval of the newest program', async () => {
    await using store = await openTestStore(engine);
    const runs: number[] = [];
    const run: Run = async () => void runs.push(performance.now());
    {
      await using node = await startNode(store, 'a', run, { everyMs: 3_600_000 });
      await expect.poll(() => node.outcomes).toEqual(['done']);
    }
    await using _node = await startNode(store, 'a', run, { everyMs: 7_200_000 });
    expect(await rows(store)).toMatchObject([{ every_ms: 7_200_000 }]);
  });
});
