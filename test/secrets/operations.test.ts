// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@patchbay/contract/client';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addJob } from '../../packages/server/src/store/tables/jobs.ts';
import { dumpFolder, dumpTables, newCanary, placesWith, recordingFetch } from '../canary.ts';
import { platforms } from '../doors/platforms.ts';

const ENVIRONMENT = {
  PATCHBAY_REF_SHOP: 'shop',
  SHOP_REGION: 'eu',
  SHOP: 'x',
  DATABASE_URL: 'x',
  PATCHBAY_REFERENCES_ENVIRONMENT: 'SHOP_*,DATABASE_URL',
};

const agentFile = (text: string) => ({
  agent: 'clerk',
  name: 'Clerk',
  description: 'Made by a test.',
  rules: { behaviorGroups: [{ name: 'always', rules: [{ name: 'answer', actions: ['answer'] }] }] },
  output: { outputSet: [{ action: 'answer', outputs: [{ valueAlternatives: [{ type: 'text', text }] }] }] },
});

describe.each(platforms)('secrets and variables on $kind', ({ start }) => {
  let platform: TestPlatform;
  let recorder: ReturnType<typeof recordingFetch>;
  let client: ReturnType<typeof createClient>;
  beforeAll(async () => {
    platform = await start({
      env: {
        PATCHBAY_VAULT_KEY: randomBytes(32).toString('hex'),
        PATCHBAY_LOG_LEVEL: 'debug',
        ...ENVIRONMENT,
      },
    });
    recorder = recordingFetch();
    client = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch: recorder.fetch });
  });
  afterAll(() => platform?.close());

  async function send(method: string, path: string, body: string, key = platform.operatorKey) {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const response = await recorder.fetch(`${platform.url}/api/v1${path}`, { method, headers, body });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }

  const resolve = (text: string, agentId = 'clerk') => {
    const { references } = platform.platform;
    return references.resolve(references.compile(text), { agentId }).then(({ text: resolved }) => resolved);
  };

  it('are set, listed page by page, used and deleted', async () => {
    for (const name of ['b', 'a', 'C']) {
      expect(await client.call('put_variable', { name, value: `value of ${name}` })).toMatchObject({
        created: true,
      });
      expect(await client.call('put_secret', { name, value: `secret of ${name}` })).toMatchObject({
        created: true,
      });
    }
    const names = (list: readonly { name: string }[]) => list.map(({ name }) => name);
    expect(names((await client.call('list_secrets', { limit: 2 })).secrets)).toEqual(['C', 'a']);
    expect(names((await client.call('list_secrets', { limit: 2, after: 'a' })).secrets)).toEqual(['b']);
    expect(names((await client.call('list_variables', { after: 'C' })).variables)).toEqual(['a', 'b']);
    expect(await resolve('${vars:a} ${vault:b}')).toBe('value of a secret of b');

    expect(
      await client.call('put_variable', { name: 'a', value: 'another', exportable: false }),
    ).toMatchObject({
      created: false,
      value: 'another',
      exportable: false,
    });
    expect(await client.call('put_variable', { name: 'a', value: 'third' })).toMatchObject({
      exportable: false,
    });
    await expect.poll(() => resolve('${vars:a}')).toBe('third');
    expect(await client.call('delete_secret', { name: 'b' })).toEqual({ name: 'b', deleted: true });
    await expect
      .poll(() => resolve('${vault:b}').catch((error: Error) => error.message))
      .toContain('no secret');
    expect(await client.call('delete_variable', { name: 'b' })).toEqual({ name: 'b', deleted: true });
  });

  it('stand beside the environment, of which configuration reads what it may', async () => {
    expect(await resolve('${PATCHBAY_REF_SHOP:none} ${SHOP_REGION:none} ${PATCHBAY_REF_OTHER:none}')).toBe(
      'shop eu none',
    );
    for (const name of ['PATCHBAY_VAULT_KEY', 'PATCHBAY_DATABASE_URL', 'DATABASE_URL', 'PATH', 'SHOP'])
      expect(() => platform.platform.references.compile(`\${${name}:}`)).toThrow(
        'configuration may not read',
      );
  });

  it('get their new data key also when the node that rotates does not end it', async () => {
    const { store } = platform.platform;
    await client.call('put_secret', { name: 'left-over', value: 'still the same' });
    const keys = () => store.db.selectFrom('data_keys').select(['id', 'is_current']).execute();
    const [before] = await keys();
    await store.commit(async db => {
      await db.updateTable('data_keys').set({ is_current: 0 }).execute();
      await addJob(db, { id: 'reseal-secrets', kind: 'reseal-secrets', payload: null });
    });
    await expect
      .poll(keys, { timeout: 15_000 })
      .toEqual([{ id: expect.not.stringMatching(before!.id), is_current: 1 }]);
    expect(await resolve('${vault:left-over}')).toBe('still the same');
  });

  it('are refused when a name or a value is none', async () => {
    for (const [path, body, sentence] of [
      ['/secrets/a%20b', { value: 'long enough' }, /name: must be 1 to 128 characters/],
      [`/secrets/${'x'.repeat(129)}`, { value: 'long enough' }, /name: must be 1 to 128 characters/],
      ['/secrets/a', { value: 'abc' }, /value: .*4 characters/],
      ['/secrets/a', { value: 'x'.repeat(65_537) }, /value: .*65536 characters/],
      ['/secrets/new', {}, /Missing required argument: value/],
      ['/secrets/a', { value: 'long enough', allowedAgents: ['No agent'] }, /must be an id of an agent/],
      ['/variables/a', { value: 'x'.repeat(10_001) }, /value: .*10000 characters/],
      ['/variables/a', { value: 'see ${vault:b}' }, /value: a variable holds no reference/],
    ] as const) {
      const { status, body: answer } = await send('PUT', path, JSON.stringify(body));
      expect([path, status]).toEqual([path, 400]);
      expect((answer.error as { message: string }).message).toMatch(sentence);
    }
  });

  it('keep an agent out of a secret of others: it is not deployed, and would get nothing', async () => {
    await client.call('put_secret', { name: 'guarded', value: 'guarded value', allowedAgents: ['cashier'] });
    const deploy = () => client.call('deploy_agent_file', { file: agentFile('${vault:guarded}') });
    await expect(deploy()).rejects.toMatchObject({
      status: 403,
      message: expect.stringContaining('the secret is not for agent clerk'),
    });
    await expect(resolve('${vault:guarded}')).rejects.toThrow('for other agents');
    await client.call('put_secret', { name: 'guarded', allowedAgents: ['cashier', 'clerk'] });
    expect(await deploy()).toMatchObject({ status: 'READY' });
    await expect.poll(() => resolve('${vault:guarded}').catch(String)).toBe('guarded value');
  });

  it('never show a secret in an answer, an error, a log line, a table or a file', async () => {
    const canary = newCanary();
    const { value } = canary;
    const errors: unknown[] = [];
    const attempt = (work: Promise<unknown>) => work.catch(error => errors.push(error));
    const viewer = await platform.addPerson(['patchbay-viewer']);

    await client.call('put_secret', {
      name: 'canary',
      value,
      description: 'of this test',
      allowedAgents: ['clerk'],
    });
    expect(await resolve('${vault:canary}')).toBe(value);
    await send('PUT', '/secrets/canary', JSON.stringify({ value }), viewer.key);
    await send('PUT', '/secrets/canary', JSON.stringify({ value: value.repeat(2_000) }));
    await send('PUT', '/secrets/canary', JSON.stringify({ value: [value] }));
    await send('PUT', '/secrets/canary', JSON.stringify({ value, allowedAgents: value }));
    await send('PUT', '/secrets/canary', `{"value": ${JSON.stringify(value)} "x"}`);
    await send('PUT', '/secrets/canary', JSON.stringify({ value: `${value}\0` }));
    await send('POST', '/secrets/canary', JSON.stringify({ value }));
    await send('PUT', '/secrets/no%20name', JSON.stringify({ value }));
    await attempt(resolve('${vault:canary}', 'other'));
    await attempt(resolve('${vault:canary} ${vault:nothing}'));
    await client.call('deploy_agent_file', { file: agentFile('Bearer ${vault:canary}') });
    await client.call('chat_with_agent', { agentId: 'clerk', message: 'hello' });
    await client.call('list_secrets', {});
    await client.call('get_agent', { agentId: 'clerk' });
    await client.call('rotate_secrets', {});
    expect(await resolve('${vault:canary}')).toBe(value);
    await recorder.fetch(`${platform.url}/metrics`, {
      headers: { authorization: `Bearer ${platform.operatorKey}` },
    });

    const everywhere = async () => ({
      answers: recorder.answers,
      errors,
      log: platform.logLines(),
      ...(await dumpTables(platform.platform.store)),
      ...(await dumpFolder(platform.dataDir)),
    });
    expect(errors).toHaveLength(2);
    expect(placesWith(canary, await everywhere())).toEqual([]);
    await client.call('delete_secret', { name: 'canary' });
    expect(placesWith(canary, await everywhere())).toEqual([]);
    // What would be found, is.
    await client.call('put_variable', { name: 'canary', value });
    expect(placesWith(canary, await everywhere())).toEqual(expect.arrayContaining(['answers', 'variables']));
  });
});

describe('a platform with another vault key than its database', () => {
  it('starts and does everything else, and says what to set', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'patchbay-other-key-'));
    const run = async (key: string, work: (client: ReturnType<typeof createClient>) => Promise<void>) => {
      const platform = await startTestPlatform({ dataDir, env: { PATCHBAY_VAULT_KEY: key } });
      try {
        await work(createClient({ baseUrl: platform.url, token: platform.ownerToken, fetch }));
        return platform.logLines();
      } finally {
        await platform.close();
      }
    };
    const [right, other] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
    try {
      await run(right, async client => {
        await client.call('put_secret', { name: 'a', value: 'not a real key' });
      });
      const log = await run(other, async client => {
        await expect(client.call('put_secret', { name: 'b', value: 'not a real key' })).rejects.toMatchObject(
          {
            status: 403,
            message: expect.stringContaining('set the other one as PATCHBAY_VAULT_PREVIOUS_KEY'),
          },
        );
        expect(await client.call('list_secrets', {})).toMatchObject({ count: 1 });
        expect(await client.call('chat_with_agent', { agentId: 'demo', message: 'hello' })).toBeTruthy();
      });
      expect(log).toContainEqual(
        expect.objectContaining({
          level: 'warn',
          message: expect.stringContaining('The vault cannot be used'),
        }),
      );
      expect(JSON.stringify(log)).not.toContain(other);
      await run(right, async client => {
        expect(await client.call('put_secret', { name: 'a', description: 'opened again' })).toMatchObject({
          created: false,
        });
      });
    } finally {
      await rm(dataDir, { recursive: true });
    }
  });
});

describe('a platform on PostgreSQL without a vault key', () => {
  it('does everything but store and open secrets, and says which setting is missing', async () => {
    const [, cluster] = platforms;
    const platform = await cluster!.start();
    try {
      const client = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
      await expect(client.call('put_secret', { name: 'a', value: 'long enough' })).rejects.toMatchObject({
        status: 403,
        message: expect.stringContaining('set it as PATCHBAY_VAULT_KEY on every node'),
      });
      expect(await client.call('list_secrets', {})).toEqual({ count: 0, secrets: [] });
      expect(await client.call('put_variable', { name: 'a', value: 'b' })).toMatchObject({ created: true });
      expect(await client.call('chat_with_agent', { agentId: 'demo', message: 'hello' })).toMatchObject({
        agentId: 'demo',
      });
    } finally {
      await platform.close();
    }
  });
});
