import { engines, openTestStore } from '@patchbay/testing/stores';
import { describe, expect, it } from 'vitest';

describe.each(engines)('commit on %s', engine => {
  it('stores a unit', async () => {
    await using store = await openTestStore(engine);
    await store.commit(db =>
      db.insertInto('agents').values({ id: 'a1', owner_id: 'u', mcp_enabled: 1, created_at: 5 }).execute(),
    );
    expect(await store.db.selectFrom('agents').selectAll().execute()).toEqual([
      { id: 'a1', owner_id: 'u', mcp_enabled: 1, created_at: 5 },
    ]);
  });
});
