import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@patchbay/contract/client';
import {
  startTestNode,
  startTestPlatform,
  type TestNode,
  type TestPlatform,
} from '@patchbay/testing/platform';
import { engines, newTestDatabase } from '@patchbay/testing/stores';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dumpTables, newCanary, placesWith, recordingFetch } from '../canary.ts';
import { callTool, rpc } from '../doors/wire.ts';
import { createJumpingClock } from '../jumping-clock.ts';
import { rest } from '../rest/rest-client.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

describe.each(engines)('a key, on %s', engine => {
  const undo = new AsyncDisposableStack();
  let platform: TestPlatform;
  const clock = createJumpingClock();
  beforeAll(async () => {
    const database = engine === 'postgres' ? undo.use(await newTestDatabase()) : undefined;
    platform = await startTestPlatform({
      ...(database && { databaseUrl: database.url }),
      overrides: { clock },
    });
    undo.defer(() => platform.close());
  });
  afterAll(() => undo.disposeAsync());

  const owner = (using: typeof fetch = fetch) =>
    createClient({ baseUrl: platform.url, token: platform.ownerToken, fetch: using });
  const atTheDoor = async (key: string) =>
    (await callTool(platform.agentUrl('demo'), 'demo', { message: 'hello' }, { key })).status;
  const atTheOperatorDoor = async (key: string) =>
    (await rpc(platform.operatorUrl, 'tools/list', {}, { key })).status;

  it('is shown once, and kept as a hash: in no table, log, list or audit trail (attack 46)', async () => {
    const recorded = recordingFetch();
    const made = [
      await owner().call('create_key', { name: 'laptop', scopes: ['agents', 'operator'] }),
      await owner().call('create_agent_key', { agentId: 'demo', name: 'shop' }),
    ];
    const client = owner(recorded.fetch);
    await client.call('list_keys', {});
    await client.call('list_agent_keys', { agentId: 'demo' });
    for (const { key } of made) {
      expect(await atTheDoor(key)).toBe(200);
      await rpc(platform.agentUrl('nobody'), 'tools/list', {}, { key });
      await rpc(`${platform.url}/mcp?key=${key}`, 'tools/list', {}, {});
    }
    for (const { id } of made) await client.call('revoke_key', { keyId: id });
    for (const { key } of made) expect(await atTheDoor(key)).toBe(401);
    await client.call('list_audit_events', { limit: 100 });
    const places = {
      tables: await dumpTables(platform.platform.store),
      log: platform.logLines(),
      answers: recorded.answers,
    };
    for (const { key } of made) {
      const canary = { ...newCanary(), core: key.slice('oag_'.length + 8), value: key };
      expect(placesWith(canary, places)).toEqual([]);
      expect(placesWith(canary, { made })).toEqual(['made']);
    }
  });

  it('expires when it was told to, is listed no more and takes no place among the three of an agent', async () => {
    const agentId = 'demo';
    const short = await owner().call('create_agent_key', { agentId, name: 'short', expiresInDays: 1 });
    expect(short.expiresOn! - short.createdOn).toBe(DAY_MS);
    const listed = async () => (await owner().call('list_agent_keys', { agentId })).keys.map(({ id }) => id);
    // The one that the test platform comes with is the first.
    await owner().call('create_agent_key', { agentId, name: 'second' });
    await expect(owner().call('create_agent_key', { agentId, name: 'third' })).rejects.toMatchObject({
      status: 409,
    });
    expect(await listed()).toContain(short.id);
    expect(await atTheDoor(short.key)).toBe(200);
    clock.jump(DAY_MS + 1);
    expect(await atTheDoor(short.key)).toBe(401);
    expect(await listed()).not.toContain(short.id);
    const third = await owner().call('create_agent_key', { agentId, name: 'third' });
    await owner().call('revoke_agent_key', { agentId, keyId: third.id });
  });

  it('says when it was last used, which no request has waited for', async () => {
    const { id, key } = await owner().call('create_key', { name: 'used' });
    const lastUsed = async () =>
      (await owner().call('list_keys', {})).keys.find(one => one.id === id)!.lastUsedOn;
    expect(await lastUsed()).toBeUndefined();
    const before = clock.now();
    for (let times = 0; times < 20; times += 1) expect(await atTheDoor(key)).toBe(200);
    expect(await lastUsed()).toBeUndefined();
    clock.jump(MINUTE_MS);
    await expect.poll(lastUsed).toBeGreaterThanOrEqual(before);
  });

  it('of an agent ends alone, and the one of its owner ends without it (B-43)', async () => {
    const user = await owner().call('create_key', { name: 'mine' });
    const shop = await owner().call('create_agent_key', { agentId: 'demo', name: 'shop' });
    await owner().call('revoke_agent_key', { agentId: 'demo', keyId: shop.id });
    expect([await atTheDoor(shop.key), await atTheDoor(user.key)]).toEqual([401, 200]);
    await owner().call('revoke_key', { keyId: user.id });
    expect([await atTheDoor(user.key), await atTheDoor(platform.agentKey)]).toEqual([401, 200]);
  });

  it('of an agent opens that agent and nothing else of its owner (B-45)', async () => {
    const key = platform.agentKey;
    await owner().call('deploy_agent_file', {
      file: {
        ...{ agent: 'other', name: 'Other', mcp_enabled: true },
        rules: { behaviorGroups: [{ name: 'x', rules: [{ name: 'x', actions: ['x'] }] }] },
        output: { outputSet: [] },
      },
    });
    expect(await atTheDoor(key)).toBe(200);
    expect((await rpc(platform.agentUrl('other'), 'tools/list', {}, { key })).status).toBe(401);
    expect(await atTheOperatorDoor(key)).toBe(401);
    for (const path of ['/agents', '/agents/demo', '/api-keys', '/files', '/tasks', '/discovery'])
      expect((await rest(platform.url, 'GET', path, { key })).status, path).toBe(401);
  });

  it('is made for one agent by its owner, and that is noted (B-44)', async () => {
    const { id } = await owner().call('create_agent_key', { agentId: 'demo', name: 'noted' });
    const { events } = await owner().call('list_audit_events', { limit: 5 });
    expect(events).toContainEqual(
      expect.objectContaining({
        operation: 'create_agent_key',
        userId: platform.platform.owner.id,
        subject: { agentId: 'demo', id },
      }),
    );
    await owner().call('revoke_agent_key', { agentId: 'demo', keyId: id });
    const admin = await platform.addPerson(['patchbay-admin']);
    const { status } = await rest(platform.url, 'POST', '/agents/demo/keys', { key: admin.key, body: {} });
    expect(status).toBe(403);
  });

  it('is made for others by an admin in person, who lists and ends those of everybody', async () => {
    const { userId, key: own } = await platform.addPerson(['patchbay-user']);
    const made = await owner().call('create_key', { name: 'for bob', userId });
    const theirs = createClient({ baseUrl: platform.url, token: own, fetch });
    expect((await theirs.call('list_keys', {})).keys.map(({ id }) => id)).toContain(made.id);
    expect((await owner().call('list_keys', { userId })).count).toBe(2);
    const others = { userId: platform.platform.owner.id };
    await expect(theirs.call('list_keys', others)).rejects.toMatchObject({ status: 403 });
    const [ownersKey] = (await owner().call('list_keys', {})).keys;
    await expect(theirs.call('revoke_key', { keyId: ownersKey!.id })).rejects.toMatchObject({ status: 404 });
    await owner().call('revoke_key', { keyId: made.id });
    expect((await rest(platform.url, 'GET', '/agents', { key: made.key })).status).toBe(401);
    await expect(owner().call('create_key', { userId: 'user_nobody' })).rejects.toMatchObject({
      status: 404,
    });
  });

  it('of somebody who is shut out opens nothing, also one that was made meanwhile', async () => {
    const { userId, key } = await platform.addPerson(['patchbay-user']);
    expect(await atTheOperatorDoor(key)).toBe(200);
    await owner().call('disable_user', { userId });
    expect(await atTheOperatorDoor(key)).toBe(401);
    expect((await rest(platform.url, 'GET', '/agents', { key })).status).toBe(401);
    const meanwhile = await owner().call('create_key', { userId, scopes: ['operator'] });
    expect(await atTheOperatorDoor(meanwhile.key)).toBe(401);
    await owner().call('enable_user', { userId });
    expect(await atTheOperatorDoor(key)).toBe(401);
    expect(await atTheOperatorDoor(meanwhile.key)).toBe(200);
  });
});

describe('keys with the scope operator, where they are forbidden (E-48)', () => {
  let platform: TestNode;
  let dataDir: string;
  let older: string;
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'patchbay-keys-'));
    const before = await startTestPlatform({ dataDir });
    older = before.operatorKey;
    await before.close();
    platform = await startTestNode({ dataDir, env: { PATCHBAY_KEYS_OPERATOR_SCOPE: 'forbid' } });
  });
  afterAll(async () => {
    await platform?.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  it('open nothing with that scope, also when they were made before, and stay what they are at the agent door', async () => {
    expect((await rpc(platform.operatorUrl, 'tools/list', {}, { key: older })).status).toBe(401);
    expect((await rest(platform.url, 'GET', '/discovery', { key: older })).status).toBe(401);
    expect((await rpc(platform.agentUrl('demo'), 'tools/list', {}, { key: older })).status).toBe(200);
    expect((await rest(platform.url, 'GET', '/agents', { key: older })).status).toBe(200);
  });

  it('are made no more, by nobody', async () => {
    const owner = createClient({ baseUrl: platform.url, token: platform.ownerToken, fetch });
    await expect(owner.call('create_key', { scopes: ['operator'] })).rejects.toMatchObject({ status: 403 });
    expect(await owner.call('create_key', { scopes: ['agents'] })).toMatchObject({ scopes: ['agents'] });
  });
});
