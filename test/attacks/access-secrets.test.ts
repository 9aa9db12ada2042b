import { createClient } from '@patchbay/contract/client';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { engines, newTestDatabase } from '@patchbay/testing/stores';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeFor, newClient, signedIn } from '../authorization/rig.ts';
import { type Canary, dumpFolder, dumpTables, placesWith } from '../canary.ts';
import { callTool, rpc } from '../doors/wire.ts';

describe.each(engines)('the secrets of access, on %s', engine => {
  const undo = new AsyncDisposableStack();
  let platform: TestPlatform;
  beforeAll(async () => {
    const database = engine === 'postgres' ? undo.use(await newTestDatabase()) : undefined;
    platform = await startTestPlatform({
      ...(database && { databaseUrl: database.url }),
      env: { PATCHBAY_LOG_LEVEL: 'debug' },
    });
    undo.defer(() => platform.close());
  });
  afterAll(() => undo.disposeAsync());

  const whole = (secret: string): Canary => ({ core: secret, value: secret });

  it('are in no table, file, line of the log or entry of the audit trail, used well or not (attack 46)', async () => {
    const owner = createClient({ baseUrl: platform.url, token: platform.ownerToken, fetch });
    const link = (await platform.platform.links.make(platform.platform.owner.id, 'sign-in')).url;
    const browser = await signedIn(platform);
    const client = await newClient(platform);
    const code = await codeFor(browser, client.authorizeUrl());
    const first = await client.redeem(code);
    expect(first.status).toBe(200);
    const second = await client.refresh(first.body.refresh_token!);
    expect(second.status).toBe(200);
    const { key } = await owner.call('create_key', { name: 'short', scopes: ['agents', 'operator'] });

    // Each is used where it opens something, and where it is refused.
    for (const token of [first.body.access_token!, second.body.access_token!, key]) {
      expect(
        (await callTool(platform.agentUrl('demo'), 'demo', { message: 'hello' }, { key: token })).status,
      ).toBe(200);
      await rpc(platform.agentUrl('nobody'), 'tools/list', {}, { key: token });
      await rpc(platform.operatorUrl, 'tools/list', {}, { key: `${token}x` });
      await rpc(`${platform.operatorUrl}?access_token=${token}`, 'tools/list', {}, {});
      await fetch(`${platform.url}/${token}/mcp`, { method: 'POST' });
    }
    await client.redeem(code);
    await client.refresh(first.body.refresh_token!);
    await client.redeem('no code', { code_verifier: `${client.verifier}x` });
    await fetch(link, { method: 'POST', body: new URLSearchParams({ csrf: 'none' }) });

    const secrets = {
      code,
      verifier: client.verifier,
      'access token': second.body.access_token!.split('.')[2]!,
      'refresh token': second.body.refresh_token!,
      'used refresh token': first.body.refresh_token!,
      key: key.slice(12),
      link: new URL(link).pathname.split('/').at(-1)! + new URL(link).search,
      cookie: browser.cookiesFor('/').split('=').at(-1)!,
    };
    await owner.call('list_audit_events', { limit: 200 });
    const places = {
      ...(await dumpTables(platform.platform.store)),
      log: platform.logLines(),
      files: Object.fromEntries(
        Object.entries(await dumpFolder(platform.dataDir)).filter(([name]) => !name.endsWith('local-owner')),
      ),
    };
    for (const [name, secret] of Object.entries(secrets)) {
      expect(secret.length, name).toBeGreaterThan(20);
      expect([name, placesWith(whole(secret), places)]).toEqual([name, []]);
      expect(placesWith(whole(secret), { secrets })).toEqual(['secrets']);
    }
  });
});
