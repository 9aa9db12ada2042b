import type { TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { platforms } from '../doors/platforms.ts';
import { callTool } from '../doors/wire.ts';
import { agentsKey, rest } from '../rest/rest-client.ts';

describe.each(platforms)('attack 55: an idempotency key at $kind', ({ start }) => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await start();
  });
  afterAll(() => platform?.close());

  const invoke = (key: string, body: Record<string, unknown>) =>
    rest(platform.url, 'POST', '/agents/demo/invoke', { key, body });
  const call = (key: string, args: Record<string, unknown>) =>
    callTool(platform.agentUrl('demo'), 'demo', args, { key });
  const conversations = async () => {
    const { rows } = await platform.platform.store.db
      .selectFrom('conversations')
      .select(eb => eb.fn.countAll<number | string>().as('rows'))
      .executeTakeFirstOrThrow();
    return Number(rows);
  };

  it('answers a hundred repeats at once with one turn, whichever door they come to', async () => {
    const key = await agentsKey(platform);
    const request = { message: 'hello', idempotency_key: 'burst' };
    const before = await conversations();
    const statuses = await Promise.all(
      Array.from({ length: 100 }, async (_, index) =>
        index % 2 === 0 ? (await invoke(key, request)).status : (await call(key, request)).status,
      ),
    );
    expect(statuses.every(status => status === 200 || status === 409)).toBe(true);
    expect(statuses).toContain(200);
    expect(await conversations()).toBe(before + 1);
    const [again, over] = [await invoke(key, request), await call(key, request)];
    expect(again.body.data.context_id).toBe(over.body.result.structuredContent.context_id);
    expect(await conversations()).toBe(before + 1);
  });

  it('is refused with other arguments, at both doors', async () => {
    const key = await agentsKey(platform);
    await invoke(key, { message: 'hello', idempotency_key: 'mine' });
    const before = await conversations();
    const other = { message: 'hello again', idempotency_key: 'mine' };
    for (const { status } of [await invoke(key, other), await call(key, other)]) expect(status).toBe(409);
    expect(await conversations()).toBe(before);
  });

  it('of somebody else is another key: nobody gets their answer, or learns that there is one', async () => {
    const { keys, owner } = platform.platform;
    const principal = {
      id: owner.id,
      roles: new Set(owner.roles),
      via: 'cli',
      credential: 'test',
      agents: { kind: 'own' },
    } as const;
    const other = await keys.createAgentKey(principal, { agentId: 'demo', name: 'another host' });
    const request = { message: 'hello', idempotency_key: 'shared' };
    const mine = await call(platform.agentKey, request);
    const theirs = await call(other.token, request);
    const contexts = [mine, theirs].map(({ body }) => body.result.structuredContent.context_id);
    expect(contexts[0]).not.toBe(contexts[1]);
    // Other arguments under a key that only somebody else has used are no conflict.
    const more = { message: 'thanks', idempotency_key: 'only mine' };
    await call(platform.agentKey, { ...more, message: 'hello' });
    expect((await call(other.token, more)).status).toBe(200);
  });
});
