import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { openTestStore } from '@patchbay/testing/stores';
import { afterEach, expect, it } from 'vitest';
import { addJob } from '../../packages/server/src/store/tables/jobs.ts';

const WORKER = fileURLToPath(new URL('job-worker.ts', import.meta.url));
const JOBS = 200;

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

async function startWorker(url: string, schema: string, nodeId: string) {
  const child = fork(WORKER, [url, schema, nodeId]);
  children.push(child);
  const said: unknown[] = [];
  child.on('message', message => said.push(message));
  await once(child, 'message');
  return { child, count: (word: string) => said.filter(each => each === word).length };
}

it('every job is done and none counts twice when one of two nodes is killed at work', async () => {
  await using store = await openTestStore('postgres');
  const { url, schema } = store.options as { url: string; schema: string };
  const doomed = await startWorker(url, schema, 'doomed');
  const other = await startWorker(url, schema, 'other');
  await store.commit(async db => {
    for (let count = 0; count < JOBS; count += 1) {
      await addJob(db, { id: `job ${count}`, kind: 'work', payload: `effect ${count}` });
    }
  });

  await expect.poll(() => doomed.count('done'), { interval: 5 }).toBeGreaterThan(20);
  doomed.child.kill('SIGKILL');
  await once(doomed.child, 'exit');
  const heldByTheDead = await store.db
    .selectFrom('jobs')
    .select('id')
    .where('holder', '=', 'doomed')
    .execute();
  expect(heldByTheDead.length).toBeGreaterThan(0);

  // The lease of the dead and one look at the table: seconds, where minutes are usual.
  const left = () => store.db.selectFrom('jobs').select('id').execute();
  await expect.poll(async () => (await left()).length, { timeout: 15_000 }).toBe(0);
  const effects = await store.db
    .selectFrom('server_secrets')
    .select('name')
    .where('name', 'like', 'effect%')
    .execute();
  expect(effects).toHaveLength(JOBS);
  const done = doomed.count('done') + other.count('done');
  expect(done).toBeLessThanOrEqual(JOBS);
  // What the killed one ended it may have had no time to say.
  expect(done).toBeGreaterThan(JOBS - 10);
  for (const outcome of ['failed', 'dead', 'lost']) {
    expect(doomed.count(outcome) + other.count(outcome)).toBe(0);
  }

  other.child.kill('SIGTERM');
  const [code] = await once(other.child, 'exit');
  expect(code).toBe(0);
});
