import { randomBytes } from 'node:crypto';
import { openStore } from '@patchbay/server/store/open-store';
import { engines, openTestStore } from '@patchbay/testing/stores';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../packages/server/src/kernel/clock.ts';
import { beginAudit, createAudit } from '../../packages/server/src/records/audit/audit.ts';
import { createChain } from '../../packages/server/src/records/audit/chain.ts';
import { createAuditVerifier } from '../../packages/server/src/records/audit/verify.ts';
import { openPostgres } from '../../packages/server/src/store/engines/postgres.ts';
import { openSqlite } from '../../packages/server/src/store/engines/sqlite.ts';
import { foundation } from '../../packages/server/src/store/migrations/0001-foundation.ts';
import { migrate } from '../../packages/server/src/store/migrations/migrations.ts';

describe.each(engines)('a database from before the chains on %s', engine => {
  it('keeps its entries, which are read before and counted beside the chains', async () => {
    await using store = await openTestStore(engine);
    const old =
      store.options.kind === 'sqlite'
        ? { ...store.options, file: `${store.options.file}.old` }
        : { ...store.options, schema: `${store.options.schema}_old` };
    const clock = systemClock;
    const opened =
      old.kind === 'sqlite' ? openSqlite({ ...old, clock }) : await openPostgres({ ...old, clock });
    await migrate(opened, [foundation]);
    await opened.commit(async db => {
      await sql`insert into conversations
        (id, agent_id, agent_version, environment, user_id, state, step_count, counters, properties, lease_fence, created_at, updated_at)
        values ('conv_old', 'demo', 1, 'production', 'ann', 'READY', 1, '{}', '{}', 1, 1, 1)`.execute(db);
      for (const task of [0, 1])
        await sql`insert into audit_entries
          (id, conversation_id, agent_id, agent_version, user_id, environment, step_index, task_index, task_id, task_type,
            duration_ms, input, output, actions, created_at)
          values (${`audit_old_0_${task}`}, 'conv_old', 'demo', 1, 'ann', 'production', 0, ${task}, 'rules', 'rules',
            1, null, '{}', '[]', 1)`.execute(db);
    });
    await opened.close();

    const upgraded = await openStore(old);
    const chain = createChain(randomBytes(32));
    await upgraded.commit(db => beginAudit(db, chain, 1));
    await upgraded.commit(db => beginAudit(db, chain, 2));
    const audit = createAudit({ store: upgraded, clock, chain });
    await upgraded.commit(db =>
      audit.append(
        db,
        {
          ...{ conversationId: 'conv_old', agentId: 'demo', agentVersion: 1 },
          ...{ userId: 'ann', environment: 'production' },
        },
        [0, 1].map(taskIndex => ({
          ...{ stepIndex: 1, taskIndex, taskId: 'rules', taskType: 'rules', durationMs: 1 },
          ...{ input: 'hello', output: {}, actions: [], createdAt: 2 },
        })),
      ),
    );
    const read = async (limit: number) =>
      (await audit.entriesOf('conv_old', limit)).map(({ id, seq }) => `${seq} ${id}`);
    const all = ['1 audit_old_1_1', '1 audit_old_1_0', '0 audit_old_0_1', '0 audit_old_0_0'];
    for (const limit of [1, 2, 3, 4, 10]) expect(await read(limit)).toEqual(all.slice(0, limit));
    expect((await audit.entriesOf('conv_old', 10)).at(-1)).toEqual({
      ...{ id: 'audit_old_0_0', conversationId: 'conv_old', agentId: 'demo', agentVersion: 1 },
      ...{ userId: 'ann', environment: 'production', stepIndex: 0, taskIndex: 0, taskId: 'rules' },
      ...{ taskType: 'rules', durationMs: 1, input: undefined, output: {}, actions: [], createdAt: 1 },
      ...{ seq: 0, hash: undefined },
    });
    expect((await audit.events({ limit: 10 })).map(({ subject }) => subject)).toEqual(['{"unchained":2}']);
    const verifier = createAuditVerifier({ store: upgraded, clock, chain });
    expect(await verifier.all(undefined)).toEqual({ chains: 2, entries: 3, breaks: [], next: undefined });
    if (old.kind === 'postgres') await upgraded.db.schema.dropSchema(old.schema!).cascade().execute();
    await upgraded.close();
  });
});
