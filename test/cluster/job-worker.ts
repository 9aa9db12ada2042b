import { systemClock } from '../../packages/server/src/kernel/clock.ts';
import { createJobs } from '../../packages/server/src/store/jobs.ts';
import { openStore } from '../../packages/server/src/store/open-store.ts';

// A node in a process of its own, so that it can be killed without a warning. Says `working`, and how each run ended.

const [, , url, schema, nodeId] = process.argv as [string, string, string, string, string];
const store = await openStore({ kind: 'postgres', url, schema });
const jobs = createJobs({
  store,
  clock: systemClock,
  nodeId,
  kinds: {
    work: {
      async run(payload) {
        await systemClock.sleep(20);
        // What has been done already is found done: the same work again changes nothing.
        await store.db
          .insertInto('server_secrets')
          .values({ name: String(payload), value: new Uint8Array(), created_at: 0 })
          .onConflict(conflict => conflict.column('name').doNothing())
          .execute();
      },
    },
  },
  onEnd: (_kind, outcome) => process.send?.(outcome),
});
await jobs.start();
process.send?.('working');
process.once('SIGTERM', async () => {
  await jobs.stop();
  await store.close();
  process.disconnect?.();
});
