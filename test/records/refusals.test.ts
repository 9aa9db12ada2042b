import { createClient, type OperationOutput } from '@patchbay/contract/client';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { engines, newTestDatabase } from '@patchbay/testing/stores';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dumpTables, newCanary, placesWith } from '../canary.ts';
import { rpc, statusWithHost } from '../doors/wire.ts';

type Event = OperationOutput<'list_audit_events'>['events'][number];

describe.each(engines)('whoever is refused, on %s', engine => {
  const undo = new AsyncDisposableStack();
  let platform: TestPlatform;
  beforeAll(async () => {
    const database = engine === 'postgres' ? undo.use(await newTestDatabase()) : undefined;
    platform = await startTestPlatform({ ...(database && { databaseUrl: database.url }) });
    undo.defer(() => platform.close());
  });
  afterAll(() => undo.disposeAsync());

  const client = () => createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });

  const owner = () => createClient({ baseUrl: platform.url, token: platform.ownerToken, fetch });

  async function refusals(): Promise<Event[]> {
    const { events } = await client().call('list_audit_events', { limit: 200 });
    return events.filter(({ operation }) => operation === 'access_refused');
  }

  const written = (subject: Record<string, unknown>) =>
    expect
      .poll(refusals)
      .toContainEqual(expect.objectContaining({ subject: expect.objectContaining(subject) }));

  it('is found in the audit trail with the door and the reason, at both doors and on REST', async () => {
    const canary = newCanary();
    const key = `oag_${canary.core}`;
    await rpc(platform.operatorUrl, 'tools/list', {}, { key });
    await rpc(platform.agentUrl('demo'), 'tools/list', {}, {});
    await fetch(`${platform.url}/api/v1/discovery`, { headers: { authorization: `Bearer ${key}` } });
    await rpc(platform.operatorUrl, 'tools/list', {}, { key: platform.agentKey });
    await written({ door: 'operator', reason: 'bad-credential' });
    await written({ door: 'agent', reason: 'no-credential' });
    await written({ door: 'rest', reason: 'bad-credential' });
    await written({ door: 'operator', reason: 'wrong-door' });
    const tables = await dumpTables(platform.platform.store);
    expect(placesWith(canary, { tables, log: platform.logLines() })).toEqual([]);
    expect(placesWith(canary, { key })).toEqual(['key']);
  });

  it('is named where the key says who it was', async () => {
    const { id, key } = await owner().call('create_key', { name: 'short-lived' });
    await owner().call('revoke_key', { keyId: id });
    await rpc(platform.agentUrl('demo'), 'tools/list', {}, { key });
    await written({ door: 'agent', reason: 'revoked-key', keyId: id });
    const event = (await refusals()).find(({ subject }) => subject.keyId === id);
    expect(event).toMatchObject({
      userId: platform.platform.owner.id,
      via: 'user-key',
      outcome: 'refused',
    });
  });

  it('for a foreign host or a foreign page, too', async () => {
    expect(await statusWithHost(platform.operatorUrl, 'evil.example')).toBe(403);
    await fetch(platform.operatorUrl, { headers: { origin: 'https://evil.example' } });
    await written({ door: 'any', reason: 'foreign-host' });
    await written({ door: 'any', reason: 'foreign-origin' });
    expect(JSON.stringify(await refusals())).not.toContain('evil');
  });
});
