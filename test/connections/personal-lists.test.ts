import { openTestStore, type TestStore } from '@patchbay/testing/stores';
import { afterEach, describe, expect, it } from 'vitest';
import type { OutboundCall } from '../../packages/server/src/connections/call/outbound-call.ts';
import { createOutboundCalls } from '../../packages/server/src/connections/call/outbound-calls.ts';
import type { PersonalCredential } from '../../packages/server/src/connections/credential/credentials-provider.ts';
import { createKeptTools } from '../../packages/server/src/connections/server/kept-tools.ts';
import { readServerOptions } from '../../packages/server/src/connections/server/server-options.ts';
import { compileText } from '../../packages/server/src/secrets/reference-text.ts';
import type { Store } from '../../packages/server/src/store/store.ts';
import { createJumpingClock } from '../jumping-clock.ts';
import { guard, isToolCall } from './personal-rig.ts';
import { tool } from './servers/fault-server.ts';
import { faultServers } from './servers/fault-servers.ts';
import { quiet, testPool } from './test-pool.ts';

const { start } = faultServers();
const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one[Symbol.asyncDispose]();
});

const REF = { scope: 'default', name: 'linear' };
const DAY = 86_400_000;
const texts = { compile: (text: string) => compileText(text, () => true) };

async function testStore(): Promise<TestStore> {
  const store = await openTestStore('sqlite');
  open.push(store);
  return store;
}

/** The way out to one server, as the platform has it, with the credentials of people in the hands of the test. */
async function rigWith(options: object = {}, store?: Store) {
  const server = await start('legacy');
  server.tools = [tool('whoami')];
  const guarded = guard(server);
  const clock = createJumpingClock();
  const pool = testPool({ clock });
  open.push(pool);
  const definition = readServerOptions(
    { url: server.url, credentialName: 'linear', ...options },
    { ref: REF, source: 'code', texts },
  );
  const given = new Map<string, PersonalCredential>();
  const kept = createKeptTools({ store: store ?? (await testStore()), clock, logger: quiet });
  const calls = createOutboundCalls({
    ...{ pool, clock, kept, logger: quiet },
    references: { compile: texts.compile, resolve: () => Promise.reject(new Error('nothing refers here')) },
    limits: { callsPerMinute: 0 },
    accepted: { of: () => undefined, first: () => Promise.resolve() },
    registered: () => definition,
    reconcile: async () => undefined,
    checkOf: () => undefined,
    actsFor: async () => true,
    credentialsOf: () => ({
      find: async (_name, principalId) => given.get(principalId),
      refused: async () => undefined,
    }),
    onCall: () => undefined,
  });
  const { signal } = new AbortController();
  const callFor = (userId: string) => ({ agentId: 'a', conversationId: 'c', userId });
  return {
    ...{ server, clock, kept, guarded },
    give(userId: string, token: string, revision: number, renewed = revision) {
      given.set(userId, { token, revision: renewed, given: revision });
    },
    offered: async (userId: string, turn: object = {}) => {
      const view = await calls.offered({ server: definition, callFor: callFor(userId), turn, signal });
      return [...view.offered.keys()];
    },
    call: (userId: string, more: Partial<OutboundCall> = {}) =>
      calls.call({
        ...{ server: definition, tool: 'whoami', arguments: {}, driver: 'model', signal },
        callFor: callFor(userId),
        ...more,
      }),
  };
}

describe('The tools of a server that each person reaches by themselves', () => {
  it('are one that connects until somebody has, then those that were found, for who has not (W-82) (W-83) (W-84)', async () => {
    const rig = await rigWith();
    expect(await rig.offered('ann')).toEqual(['connect']);
    expect(await rig.call('ann', { tool: 'connect' })).toEqual({
      kind: 'needs-sign-in',
      server: 'default/linear',
      credential: 'linear',
      message: 'default/linear is used with your own credential: sign in first',
      record: expect.objectContaining({ outcome: 'needs_sign_in', reached: 'no', attempts: 0 }),
    });
    expect(rig.server.received).toEqual([]);
    rig.give('ann', rig.guarded.knows('ann'), 1);
    expect(await rig.call('ann', { tool: 'connect' })).toMatchObject({
      kind: 'answered',
      result: { isError: false, outside: false, text: expect.stringContaining('which offers one tool') },
    });
    expect(await rig.offered('bob')).toEqual(['whoami']);
    expect(await rig.call('bob')).toMatchObject({ kind: 'needs-sign-in' });
    expect(rig.guarded.shown(isToolCall)).toEqual([]);
  });

  it('stay as they are within a turn in which somebody connects (W-21)', async () => {
    const rig = await rigWith();
    const turn = {};
    expect(await rig.offered('ann', turn)).toEqual(['connect']);
    rig.give('ann', rig.guarded.knows('ann'), 1);
    await rig.call('ann', { tool: 'connect', turn });
    expect(await rig.offered('ann', turn)).toEqual(['connect']);
    expect(await rig.offered('ann')).toEqual(['whoami']);
  });

  it('are called by the name of the server where there is no prefix (W-85)', async () => {
    expect(await (await rigWith({ prefix: '' })).offered('ann')).toEqual(['linear__connect']);
  });

  it('are those of each person who is connected; what is kept loses none to the smaller rights of another (W-83)', async () => {
    const rig = await rigWith({ gated: false });
    rig.server.tools = [tool('read'), tool('write')];
    rig.give('ann', rig.guarded.knows('ann'), 1);
    expect(await rig.offered('ann')).toEqual(['read', 'write']);
    rig.server.tools = [{ ...tool('read'), description: 'Reads.' }];
    rig.give('bob', rig.guarded.knows('bob'), 1);
    expect(await rig.offered('bob')).toEqual(['read']);
    expect((await rig.offered('carl')).sort()).toEqual(['read', 'write']);
    expect(rig.kept.of(REF)?.find(({ name }) => name === 'read')).toMatchObject({ description: 'Reads.' });
  });

  it('are kept in the store until nobody has seen them for a week, and in memory without one (W-83) (W-86)', async () => {
    const store = await testStore();
    const clock = createJumpingClock();
    const keptAt = (at: Pick<Store, 'db' | 'commit'>) =>
      createKeptTools({ store: at as Store, clock, logger: quiet });
    const kept = keptAt(store);
    const listed = (...names: string[]) => names.map(name => tool(name) as never);
    await kept.keep(REF, listed('read', 'write'));
    const others = keptAt(store);
    await others.read(REF);
    const namesIn = (tools = kept) => tools.of(REF)?.map(({ name }) => name);
    expect(namesIn(others)).toEqual(['read', 'write']);
    const before = kept.of(REF);
    await kept.keep(REF, listed('read', 'write'));
    expect(kept.of(REF)).toBe(before);
    clock.jump(6 * DAY);
    await kept.keep(REF, listed('read'));
    expect(namesIn()).toEqual(['read', 'write']);
    clock.jump(2 * DAY);
    await kept.keep(REF, listed('read'));
    expect(namesIn()).toEqual(['read']);
    await others.read(REF);
    expect(namesIn(others)).toEqual(['read']);
    const broken = keptAt({ db: store.db, commit: () => Promise.reject(new Error('no store')) });
    await broken.keep(REF, listed('only here'));
    expect(namesIn(broken)).toEqual(['only here']);
    await others.read(REF);
    expect(namesIn(others)).toEqual(['read']);
  });
});

describe('A call with a credential of its own that a person approved', () => {
  async function approved() {
    const rig = await rigWith();
    rig.give('ann', rig.guarded.knows('ann'), 1);
    const asked = await rig.call('ann');
    if (asked.kind !== 'needs-approval') throw new Error(`it was ${asked.kind}`);
    return { ...rig, approval: { ...asked.binding, expiresAt: rig.clock.now() + 60_000 } };
  }

  it('is sent when the credential was only renewed meanwhile (attack 51)', async () => {
    const rig = await approved();
    rig.give('ann', rig.guarded.knows('ann'), 1, 2);
    expect(await rig.call('ann', { approval: rig.approval })).toMatchObject({ kind: 'answered' });
    expect(rig.guarded.shown(isToolCall)).toHaveLength(1);
  });

  it('is not sent with another credential that the person has given meanwhile (attack 51)', async () => {
    const rig = await approved();
    rig.give('ann', rig.guarded.knows('ann'), 2);
    expect(await rig.call('ann', { approval: rig.approval })).toMatchObject({
      kind: 'refused',
      code: 'APPROVAL_CHANGED',
    });
    expect(rig.guarded.shown(isToolCall)).toEqual([]);
  });

  it('is not sent for another person (attack 51)', async () => {
    const rig = await approved();
    rig.give('bob', rig.guarded.knows('bob'), 1);
    expect(await rig.call('bob', { approval: rig.approval })).toMatchObject({ code: 'APPROVAL_CHANGED' });
    expect(rig.guarded.shown(isToolCall)).toEqual([]);
  });
});
