import { createClient } from '@patchbay/contract/client';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Browser } from './browser.ts';
import { claimsOf, codeFor, newClient, signedIn, type TestClient } from './rig.ts';

let platform: TestPlatform;
let browser: Browser;
let client: TestClient;
beforeAll(async () => {
  platform = await startTestPlatform();
  browser = await signedIn(platform);
  client = await newClient(platform, { description: { client_name: 'An <editor>' } });
});
afterAll(() => platform.close());

const call = (key: string) => createClient({ baseUrl: platform.url, token: key, fetch }).call;
const letIn = async (by = browser) => (await client.redeem(await codeFor(by, client.authorizeUrl()))).body;
const status = async (token: string | undefined) => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return (await fetch(platform.agentUrl('demo'), { method: 'POST', headers, body: '{}' })).status;
};

describe('the applications that a person has connected', () => {
  it('are listed in their account, and disconnected there, at once', async () => {
    const { access_token, refresh_token } = await letIn();
    const { grant } = claimsOf(access_token);
    const page = await browser.get(`${platform.url}/account`);
    expect(page.text).toContain('An &lt;editor&gt;');
    const csrf = /name="csrf" value="([^"]+)"/.exec(page.text)![1]!;
    const url = `${platform.url}/account/applications`;
    const without = await browser.post(url, { grant: grant as string });
    expect(without.status).toBe(403);
    expect(await status(access_token)).not.toBe(401);
    const sent = await browser.post(url, { grant: grant as string, csrf });
    expect(sent.location?.pathname).toBe('/account');
    expect((await browser.get(`${platform.url}/account`)).text).not.toContain(`value="${grant}"`);
    expect(await status(access_token)).toBe(401);
    expect((await client.refresh(refresh_token!)).body.error).toBe('invalid_grant');
    expect((await browser.post(url, { grant: grant as string, csrf })).location?.pathname).toBe('/account');
  });

  it('are listed and disconnected over REST, by their own person and nobody else', async () => {
    const { access_token } = await letIn();
    const id = claimsOf(access_token).grant as string;
    const other = await platform.addPerson(['patchbay-admin']);
    expect((await call(other.key)('list_grants', {})).count).toBe(0);
    await expect(call(other.key)('revoke_grant', { grantId: id })).rejects.toThrow(
      'you have allowed nothing',
    );
    const own = call(platform.operatorKey);
    expect((await own('list_grants', {})).grants[0]).toMatchObject({
      ...{ id, clientId: client.id, clientName: 'An <editor>', door: 'agents', agentIds: ['demo'] },
    });
    await own('revoke_grant', { grantId: id });
    expect(await status(access_token)).toBe(401);
    expect((await own('list_grants', {})).grants.map(grant => grant.id)).not.toContain(id);
  });
});
