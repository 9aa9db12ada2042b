import { describe, expect, it } from 'vitest';
import type { LetIn } from '../../auth/still-allowed.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Principal } from '../../kernel/principal.ts';
import { createOpenCredentials } from './open-credentials.ts';

const logger: Logger = {
  ...{ debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
  child: () => logger,
};

const ann: Principal = {
  ...{ id: 'ann', via: 'user-key', credential: 'key_ann', roles: new Set() },
  agents: { kind: 'own' },
};

function rig() {
  const state = { allowed: true, broken: false, newsAgeMs: 0 };
  const looked: LetIn[] = [];
  const refused: string[] = [];
  const sleepers: { readonly ms: number; readonly wake: () => void }[] = [];
  const open = createOpenCredentials({
    stillAllowed: async letIn => {
      looked.push(letIn);
      if (state.broken) throw new Error('no database');
      return state.allowed;
    },
    newsAgeMs: () => state.newsAgeMs,
    clock: { sleep: ms => new Promise(wake => sleepers.push({ ms, wake })) },
    noteRefusal: ({ reason }) => refused.push(reason),
    logger,
  });
  /** Time passes for who sleeps so long. */
  const wake = async (ms: number) => {
    for (const sleeper of sleepers.splice(0)) {
      if (sleeper.ms === ms) sleeper.wake();
      else sleepers.push(sleeper);
    }
    await new Promise(resolve => setImmediate(resolve));
  };
  const run = (since = open.moment(), signal = new AbortController().signal) => {
    const seen: AbortSignal[] = [];
    const { promise, resolve } = Promise.withResolvers<string>();
    const outcome = open
      .of({ door: 'agent', principal: ann, agentId: 'demo' }, since)
      .run(signal, own => {
        seen.push(own);
        return promise;
      })
      .catch((error: { kind: string }) => error.kind);
    return { outcome, signal: seen[0]!, finish: () => resolve('done') };
  };
  return { open, state, looked, refused, wake, run };
}

const settled = () => new Promise(resolve => setImmediate(resolve));

describe('an open call', () => {
  it('ends with its own answer while nothing changes, and nothing stays behind', async () => {
    const { open, run, looked } = rig();
    const { outcome, finish } = run();
    expect(open.size).toBe(1);
    finish();
    expect(await outcome).toBe('done');
    expect([open.size, looked]).toEqual([0, []]);
  });

  it.each([
    { kind: 'key-changed', keyId: 'key_ann' },
    { kind: 'user-changed', userId: 'ann' },
    { kind: 'agent-changed', agentId: 'demo' },
    { kind: 'resync' },
  ] as const)('is ended and told when news of %j means that it is no longer allowed', async event => {
    const { open, run, state, refused } = rig();
    const { outcome, signal } = run();
    state.allowed = false;
    open.hear(event);
    expect(await outcome).toBe('unauthenticated');
    expect([signal.aborted, open.size, refused]).toEqual([true, 0, ['access-ended']]);
  });

  it('is not even looked at for news of others, and goes on when it is still allowed', async () => {
    const { open, run, looked, state } = rig();
    const { outcome, finish } = run();
    state.allowed = false;
    for (const event of [
      { kind: 'key-changed', keyId: 'key_bob' },
      { kind: 'grant-changed', grantId: 'key_ann' },
      { kind: 'user-changed', userId: 'bob' },
      { kind: 'agent-changed', agentId: 'other' },
      { kind: 'job-added', job: 'x' },
    ] as const)
      open.hear(event);
    await settled();
    expect(looked).toEqual([]);
    state.allowed = true;
    open.hear({ kind: 'key-changed', keyId: 'key_ann' });
    await settled();
    expect(looked).toHaveLength(1);
    finish();
    expect(await outcome).toBe('done');
  });

  it('is looked at when news came while its credential was', async () => {
    const { open, run, state } = rig();
    const since = open.moment();
    open.hear({ kind: 'key-changed', keyId: 'key_ann' });
    state.allowed = false;
    expect(await run(since).outcome).toBe('unauthenticated');
  });

  it('goes on while nobody can say whether it may, and is asked about again', async () => {
    const { open, run, state, wake } = rig();
    const { outcome } = run();
    Object.assign(state, { broken: true, allowed: false });
    open.hear({ kind: 'resync' });
    await settled();
    expect(open.size).toBe(1);
    state.broken = false;
    await wake(1_000);
    expect(await outcome).toBe('unauthenticated');
  });

  it('is asked about every five seconds while news is late', async () => {
    const { run, state, wake, looked } = rig();
    const { outcome } = run();
    await wake(5_000);
    expect(looked).toEqual([]);
    Object.assign(state, { newsAgeMs: 5_000, allowed: false });
    await wake(5_000);
    expect(await outcome).toBe('unauthenticated');
  });

  it('hears when its caller goes away', async () => {
    const { open, run } = rig();
    const gone = new AbortController();
    const { signal, outcome, finish } = run(open.moment(), gone.signal);
    gone.abort();
    expect(signal.aborted).toBe(true);
    finish();
    expect(await outcome).toBe('done');
  });

  it('of one credential among many is looked up once for all of them', async () => {
    const { open, run, looked, state } = rig();
    const calls = Array.from({ length: 500 }, () => run());
    state.allowed = false;
    open.hear({ kind: 'resync' });
    const outcomes = await Promise.all(calls.map(({ outcome }) => outcome));
    expect(new Set(outcomes)).toEqual(new Set(['unauthenticated']));
    expect(looked.length).toBeLessThan(3);
  });
});
