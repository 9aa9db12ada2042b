import { engines, openTestStore } from '@patchbay/testing/stores';
import { describe, expect, it } from 'vitest';
import {
  findGrant,
  type GrantRecord,
  insertGrant,
  listGrantsOf,
  removeEndedGrants,
  revokeGrant,
} from '../../packages/server/src/store/tables/grants.ts';
import { insertUser } from '../../packages/server/src/store/tables/users.ts';

const GRANT: GrantRecord = {
  id: 'grant_a',
  userId: 'ada',
  clientId: 'client',
  clientName: 'An editor',
  door: 'agents',
  agentIds: ['demo'],
  scope: 'agents',
  createdAt: 1,
  expiresAt: 1_000,
  revokedAt: undefined,
};

describe.each(engines)('what people have allowed clients, on %s', engine => {
  async function storeWith(...grants: GrantRecord[]) {
    const store = await openTestStore(engine);
    await store.commit(async db => {
      for (const id of ['ada', 'bob']) await insertUser(db, { id, name: id, roles: [], createdAt: 0 });
      for (const grant of grants) await insertGrant(db, grant);
    });
    return store;
  }

  it('is read as it was written, and listed for its person while it holds, newest first', async () => {
    const newer = { ...GRANT, id: 'grant_b', createdAt: 2, door: 'operator', agentIds: [] } as const;
    await using store = await storeWith(
      GRANT,
      newer,
      { ...GRANT, id: 'grant_over', expiresAt: 9 },
      { ...GRANT, id: 'grant_back', revokedAt: 5 },
      { ...GRANT, id: 'grant_bob', userId: 'bob' },
    );
    expect(await findGrant(store.db, 'grant_a')).toEqual(GRANT);
    expect(await listGrantsOf(store.db, { userId: 'ada', now: 10, limit: 10 })).toEqual([newer, GRANT]);
    expect(await listGrantsOf(store.db, { userId: 'ada', now: 10, limit: 1 })).toEqual([newer]);
  });

  it('is taken back by its person only, keeps the first time of it, and is told each time', async () => {
    await using store = await storeWith(GRANT);
    const heard: string[] = [];
    store.subscribe(event => heard.push(event.kind === 'grant-changed' ? event.grantId : event.kind));
    const revoke = (userId: string | undefined, at: number, id = GRANT.id) =>
      store.commit(db => revokeGrant(db, { id, userId, at }));
    expect(await revoke('bob', 3)).toBe(false);
    expect(await revoke('ada', 3, 'grant_none')).toBe(false);
    expect(heard).toEqual([]);
    expect(await revoke('ada', 4)).toBe(true);
    expect(await revoke(undefined, 5)).toBe(true);
    expect((await findGrant(store.db, GRANT.id))?.revokedAt).toBe(4);
    expect(heard).toEqual([GRANT.id, GRANT.id]);
  });

  it('is removed some time after its end', async () => {
    const back = { ...GRANT, id: 'grant_back', expiresAt: 2_000, revokedAt: 5 };
    await using store = await storeWith(GRANT, back, { ...GRANT, id: 'grant_holds', expiresAt: 2_000 });
    await store.commit(db => removeEndedGrants(db, 6));
    expect(await findGrant(store.db, 'grant_back')).toBeUndefined();
    expect(await findGrant(store.db, 'grant_a')).toBeDefined();
    await store.commit(db => removeEndedGrants(db, 1_001));
    expect(await findGrant(store.db, 'grant_a')).toBeUndefined();
    expect(await findGrant(store.db, 'grant_holds')).toBeDefined();
  });
});
