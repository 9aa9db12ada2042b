import { engines, openTestStore } from '@patchbay/testing/stores';
import { describe, expect, it } from 'vitest';
import type { HeardEvent } from '../../packages/server/src/kernel/events.ts';
import {
  type AcceptedTool,
  acceptTools,
  countServers,
  deleteServer,
  findServer,
  insertServer,
  listAcceptedTools,
  listServers,
  replaceServerOptions,
} from '../../packages/server/src/store/tables/servers.ts';

const NEW = { createdBy: 'ann', createdAt: 1, updatedAt: 1 };
const tool = (name: string, digest: string) => ({
  ...{ tool: name, digest, snapshot: { name, digest } },
  ...{ acceptedBy: 'ann', acceptedAt: 5 },
});

describe.each(engines)('stored servers on %s', engine => {
  it('are known by instance and name, and each change is told with its commit', async () => {
    await using store = await openTestStore(engine);
    const heard: HeardEvent[] = [];
    store.subscribe(event => heard.push(event));
    const add = (instance: string, name: string) =>
      store.commit(db => insertServer(db, { instance, name, options: { url: name }, ...NEW }));
    expect(await add('default', 'b')).toBe(true);
    expect(await add('default', 'a')).toBe(true);
    expect(await add('other', 'a')).toBe(true);
    expect(await add('default', 'a')).toBe(false);

    const changed = { instance: 'default', name: 'a', options: { url: 'c' }, updatedAt: 2 };
    expect(await store.commit(db => replaceServerOptions(db, changed))).toBe(true);
    expect(await store.commit(db => replaceServerOptions(db, { ...changed, name: 'x' }))).toBe(false);
    expect(await findServer(store.db, changed)).toEqual({ ...NEW, ...changed, revision: 2 });
    expect((await listServers(store.db)).map(({ instance, name }) => `${instance}/${name}`)).toEqual([
      'default/a',
      'default/b',
      'other/a',
    ]);
    expect(await countServers(store.db)).toBe(3);

    expect(await store.commit(db => deleteServer(db, { instance: 'default', name: 'a' }))).toBe(true);
    expect(await store.commit(db => deleteServer(db, { instance: 'default', name: 'a' }))).toBe(false);
    expect(await findServer(store.db, { instance: 'other', name: 'a' })).toBeDefined();
    expect(
      heard.map(event => (event.kind === 'server-changed' ? `${event.instance}/${event.name}` : event.kind)),
    ).toEqual(['default/b', 'default/a', 'other/a', 'default/a', 'default/a', 'default/a']);
  });

  it('lose the tools that were accepted of them, and no others', async () => {
    await using store = await openTestStore(engine);
    const [a, b] = [
      { instance: 'default', name: 'a' },
      { instance: 'default', name: 'b' },
    ] as const;
    await store.commit(db => insertServer(db, { ...a, options: {}, ...NEW }));
    const accept = (of: typeof a | typeof b, tools: AcceptedTool[], replace = false) =>
      store.commit(db => acceptTools(db, of, tools, { replace }));
    await accept(a, [tool('two', '1'), tool('one', '1')]);
    await accept(b, [tool('one', '1')]);
    await accept(a, [tool('one', '2')]);
    expect(await listAcceptedTools(store.db, a)).toEqual([tool('one', '1'), tool('two', '1')]);
    await accept(a, [tool('one', '2')], true);
    expect(await listAcceptedTools(store.db, a)).toEqual([tool('one', '2'), tool('two', '1')]);
    await store.commit(db => deleteServer(db, a));
    expect(await listAcceptedTools(store.db, a)).toEqual([]);
    // A node that heard late of the removal.
    await accept(a, [tool('one', '1')]);
    await store.commit(db => insertServer(db, { ...a, options: {}, ...NEW }));
    expect(await listAcceptedTools(store.db, a)).toEqual([]);
    expect(await listAcceptedTools(store.db, b)).toHaveLength(1);
  });
});
