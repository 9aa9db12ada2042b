import {
  type EngineName,
  engines,
  newTestDatabase,
  openTestStore,
  type TestStore,
} from '@patchbay/testing/stores';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { HeardEvent } from '../../packages/server/src/kernel/events.ts';
import type { Logger } from '../../packages/server/src/kernel/logger.ts';
import { createAnnouncer, publish } from '../../packages/server/src/store/events.ts';
import { openStore } from '../../packages/server/src/store/open-store.ts';
import type { Db, Store } from '../../packages/server/src/store/store.ts';
import { insertKey, revokeKey } from '../../packages/server/src/store/tables/keys.ts';
import { insertUser } from '../../packages/server/src/store/tables/users.ts';
import { startPostgresProxy } from './postgres-proxy.ts';

const keyChanged = (keyId: string) => ({ kind: 'key-changed', keyId }) as const;

/** Everything a store hears from now on, as `origin kind key`. */
function listen(store: Store): string[] {
  const heard: string[] = [];
  store.subscribe((event, origin) => heard.push([origin, ...Object.values(event)].join(' ')));
  return heard;
}

async function openAnother(store: TestStore): Promise<Store & AsyncDisposable> {
  const other = await openStore(store.options);
  return { ...other, [Symbol.asyncDispose]: other.close };
}

/** Ends the connections that listen, as a restart of the server or a firewall would. */
async function cutListening(db: Db): Promise<void> {
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'patchbay news' and datname = current_database()`.execute(db);
}

describe.each(engines)('events on %s', engine => {
  it('are heard here before commit answers, in their order', async () => {
    await using store = await openTestStore(engine);
    const heard = listen(store);
    await store.commit(async db => {
      publish(db, keyChanged('one'));
      publish(db, keyChanged('two'));
      expect(heard).toEqual([]);
    });
    expect(heard).toEqual(['here key-changed one', 'here key-changed two']);
  });

  it('never leave without the commit', async () => {
    await using store = await openTestStore(engine);
    const heard = listen(store);
    const failing = store.commit(async db => {
      publish(db, keyChanged('undone'));
      throw new Error('on second thoughts');
    });
    const [failed] = await Promise.allSettled([
      failing,
      store.commit(async db => publish(db, keyChanged('kept'))),
    ]);
    expect(failed.status).toBe('rejected');
    expect(heard).toEqual(['here key-changed kept']);
  });

  it('of a revoked key are told again when it is revoked again, for whoever missed them', async () => {
    await using store = await openTestStore(engine);
    await store.commit(async db => {
      await insertUser(db, { id: 'u', name: 'u', roles: [], createdAt: 0 });
      await insertKey(db, {
        ...{ id: 'k', kind: 'user', userId: 'u', agentId: undefined, hash: 'h', prefix: 'p', name: 'n' },
        ...{ scopes: ['agents'], shared: false, createdAt: 0, expiresAt: undefined, revokedAt: undefined },
        ...{ lastUsedAt: undefined },
      });
    });
    const heard = listen(store);
    const revoke = (at: number) => store.commit(db => revokeKey(db, { id: 'k', userId: 'u', at }));
    expect([await revoke(1), await revoke(2)]).toEqual([true, true]);
    expect(heard).toEqual(['here key-changed k', 'here key-changed k']);
    expect(await store.db.selectFrom('keys').select('revoked_at').execute()).toEqual([{ revoked_at: 1 }]);
    expect(await store.commit(db => revokeKey(db, { id: 'k', userId: 'other', at: 3 }))).toBe(false);
    expect(heard).toHaveLength(2);
  });

  it('belong to a unit and its handle', async () => {
    await using store = await openTestStore(engine);
    const outside = expect.objectContaining({ code: 'published_outside_unit' });
    expect(() => publish(store.db, keyChanged('a'))).toThrow(outside);
    let kept: Db | undefined;
    await store.commit(async db => {
      kept = db;
      expect(() => publish(store.db, keyChanged('a'))).toThrow(outside);
    });
    expect(() => publish(kept!, keyChanged('a'))).toThrow(outside);
  });

  it('are refused above the size a message may have', async () => {
    await using store = await openTestStore(engine);
    const publishing = (text: string) => store.commit(async db => publish(db, keyChanged(text)));
    await publishing('á'.repeat(3_400));
    await expect(publishing('á'.repeat(3_500))).rejects.toMatchObject({ code: 'event_too_large' });
  });

  it('reach everybody who listens, also after one of them failed, until they stop', async () => {
    await using store = await openTestStore(engine);
    store.subscribe(() => {
      throw new Error('a listener with a fault');
    });
    const heard: HeardEvent[] = [];
    const stop = store.subscribe(event => heard.push(event));
    await store.commit(async db => publish(db, keyChanged('one')));
    stop();
    await store.commit(async db => publish(db, keyChanged('two')));
    expect(heard).toEqual([keyChanged('one')]);
  });

  it('without a change of tables are told in one commit, or their teller hears that they were not', async () => {
    await using store = await openTestStore(engine);
    let commits = 0;
    const commit: Store['commit'] = unit => {
      commits += 1;
      return store.commit(unit);
    };
    const announce = createAnnouncer({ store: { commit } });
    const heard = listen(store);
    expect(await announce(Array.from({ length: 500 }, (_, count) => keyChanged(String(count))))).toBe(true);
    expect(heard).toHaveLength(500);
    expect(heard[499]).toBe('here key-changed 499');
    expect(commits).toBe(1);
    expect(await announce([keyChanged('fits'), keyChanged('x'.repeat(7_000))])).toBe(false);
    expect(heard).toHaveLength(500);
  });
});

describe('events between two stores on one database', () => {
  const engine: EngineName = 'postgres';

  it('are heard by the other one within milliseconds, and by their own once', async () => {
    await using store = await openTestStore(engine);
    await using other = await openAnother(store);
    const heard = [listen(store), listen(other)];
    await store.commit(async db => publish(db, keyChanged('one')));
    await expect.poll(() => heard[1], { interval: 1, timeout: 500 }).toEqual(['elsewhere key-changed one']);
    await other.commit(async db => publish(db, keyChanged('two')));
    await expect
      .poll(() => heard[0], { interval: 1, timeout: 500 })
      .toEqual(['here key-changed one', 'elsewhere key-changed two']);
    expect(heard[1]).toEqual(['elsewhere key-changed one', 'here key-changed two']);
  });

  it('stay within their schema', async () => {
    await using store = await openTestStore(engine);
    await using stranger = await openTestStore(engine);
    await using other = await openAnother(store);
    const heard = [listen(stranger), listen(other)];
    await store.commit(async db => publish(db, keyChanged('one')));
    await expect.poll(() => heard[1]).toHaveLength(1);
    expect(heard[0]).toEqual([]);
  });

  it('are not heard when the transaction is rolled back or runs again', async () => {
    await using store = await openTestStore(engine);
    await using other = await openAnother(store);
    const heard = listen(other);
    await expect(
      store.commit(async db => {
        publish(db, keyChanged('undone'));
        await sql`select 1 / 0`.execute(db);
      }),
    ).rejects.toThrow('division by zero');
    let runs = 0;
    await store.commit(async db => {
      runs += 1;
      publish(db, keyChanged('once'));
      if (runs === 1) await sql`do $$ begin raise sqlstate '40001'; end $$`.execute(db);
    });
    await expect.poll(() => heard).toEqual(['elsewhere key-changed once']);
  });

  it('are followed by resync after the connection was cut, and heard again', async () => {
    await using store = await openTestStore(engine);
    await using other = await openAnother(store);
    const heard = listen(other);
    await cutListening(store.db);
    await expect.poll(() => heard).toEqual(['elsewhere resync']);
    await store.commit(async db => publish(db, keyChanged('after')));
    await expect.poll(() => heard).toEqual(['elsewhere resync', 'elsewhere key-changed after']);
  });

  it('that no node wrote are ignored, and told to the log', async () => {
    await using store = await openTestStore(engine);
    const warnings: string[] = [];
    const log = {
      debug: () => {},
      info: () => {},
      warn: (message: string) => warnings.push(message),
      error: () => {},
      child: () => log,
    };
    const other = await openStore(store.options, { logger: log });
    const heard = listen(other);
    const from = 'somebody';
    const odd = [
      'hello',
      'null',
      '[]',
      ...[
        { from, event: keyChanged('of no unit') },
        { from, unit: 1, event: { kind: 'of a newer version' } },
        { from, unit: 1, event: { kind: 'key-changed', keyId: 7 } },
        { from, unit: 1, event: { kind: 'calls-counted', calls: { a: -1_000_000 } } },
        { from, unit: 1, event: { kind: 'calls-counted', calls: { a: 0.5 } } },
        { from, unit: 1, event: { kind: 'resync' } },
        { from: 7, echo: 1 },
      ].map(message => JSON.stringify(message)),
    ];
    for (const message of odd) {
      await sql`select pg_notify('patchbay_' || md5(current_schema()), ${message})`.execute(store.db);
    }
    await store.commit(async db => publish(db, { kind: 'calls-counted', calls: { 'a b': 3 } }));
    await store.commit(async db => publish(db, keyChanged('after')));
    await expect
      .poll(() => heard)
      .toEqual(['elsewhere calls-counted [object Object]', 'elsewhere key-changed after']);
    expect(warnings).toEqual(odd.map(() => 'A message of another node could not be read'));
    await other.close();
  });
});

describe('behind a pooler that loses LISTEN', () => {
  it('nothing that is remembered is believed to be complete, and the log says why', {
    timeout: 30_000,
  }, async () => {
    await using database = await newTestDatabase();
    await using proxy = await startPostgresProxy(database.url);
    proxy.deaf = true;
    const warnings: string[] = [];
    const note = (message: string, fields: unknown) =>
      warnings.push(`${message} ${JSON.stringify(fields)} ${String((fields as { error?: unknown })?.error)}`);
    const logger = {
      debug: () => {},
      info: () => {},
      warn: note,
      error: note,
      child: () => logger,
    } as unknown as Logger;
    const store = await openStore({ kind: 'postgres', url: proxy.url }, { logger });
    try {
      expect(store.newsAgeMs()).toBe(Number.POSITIVE_INFINITY);
      expect(warnings.join('\n')).toMatch(/does not hear what it says itself/);
      // Everything else works as ever.
      await store.commit(async db => {
        await db.insertInto('users').values({ id: 'u', name: 'n', roles: '[]', created_at: 1 }).execute();
      });
    } finally {
      await store.close();
    }
  });
});
