import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createJumpingClock } from '../jumping-clock.ts';
import type { Browser } from './browser.ts';
import { refusedReasons } from './refused-reasons.ts';
import { claimsOf, codeFor, newClient, post, signedIn, type TestClient, type TokenAnswer } from './rig.ts';

const clock = createJumpingClock();
let platform: TestPlatform;
let browser: Browser;
let client: TestClient;
beforeAll(async () => {
  platform = await startTestPlatform({ overrides: { clock } });
  browser = await signedIn(platform);
  client = await newClient(platform);
});
afterAll(() => platform.close());

const refused = (reason: string) =>
  expect.poll(() => refusedReasons(platform), { timeout: 2_000 }).toContain(reason);
const letIn = async (from = client): Promise<TokenAnswer['body']> =>
  (await from.redeem(await codeFor(browser, from.authorizeUrl()))).body;
const ping = async (token: string | undefined) => {
  const response = await fetch(platform.agentUrl('demo'), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-06-18',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  });
  await response.body?.cancel();
  return response.status;
};
const HELD = 10_000;

describe('a refresh token (B-34)', () => {
  it('gives another access token of the same consent and another refresh token, again and again', async () => {
    let { access_token, refresh_token } = await letIn();
    const { grant } = claimsOf(access_token);
    for (let count = 0; count < 3; count += 1) {
      clock.jump(HELD + 1_000);
      const { status, body } = await client.refresh(refresh_token!);
      expect(status).toBe(200);
      expect(body.refresh_token).not.toBe(refresh_token);
      expect(claimsOf(body.access_token)).toMatchObject({ grant, scope: 'agents', aud: platform.url });
      ({ access_token, refresh_token } = body);
    }
    expect(await ping(access_token)).not.toBe(401);
  });

  it('that two requests of a client use at the same moment answers both (attack 10)', async () => {
    const { refresh_token } = await letIn();
    const answers = await Promise.all([client.refresh(refresh_token!), client.refresh(refresh_token!)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    for (const { body } of answers) expect((await client.refresh(body.refresh_token!)).status).toBe(200);
  });

  it('used once more within ten seconds is answered, a third time ends all of its family (attack 10)', async () => {
    const { refresh_token } = await letIn();
    const { body } = await client.refresh(refresh_token!);
    expect((await client.refresh(refresh_token!)).status).toBe(200);
    expect((await client.refresh(refresh_token!)).body.error).toBe('invalid_grant');
    expect((await client.refresh(body.refresh_token!)).body.error).toBe('invalid_grant');
    expect(await ping(body.access_token)).toBe(401);
    await refused('refresh-token-used-again');
  });

  it('used after its rotation ends all of its family, access tokens too (attack 10)', async () => {
    const stolen = (await letIn()).refresh_token!;
    const { body } = await client.refresh(stolen);
    expect(await ping(body.access_token)).not.toBe(401);
    clock.jump(HELD + 1_000);
    expect((await client.refresh(stolen)).body.error).toBe('invalid_grant');
    expect((await client.refresh(body.refresh_token!)).body.error).toBe('invalid_grant');
    expect(await ping(body.access_token)).toBe(401);
    await refused('refresh-token-used-again');
  });

  it('is worth nothing to another client, and is not used up by it', async () => {
    const { refresh_token } = await letIn();
    const other = await newClient(platform);
    expect((await other.refresh(refresh_token!)).body.error).toBe('invalid_grant');
    await refused('other-client');
    expect((await client.refresh(refresh_token!)).status).toBe(200);
  });

  it('gives no token for another door or a wider scope', async () => {
    const { refresh_token } = await letIn();
    const door = await client.refresh(refresh_token!, { resource: platform.operatorUrl });
    expect(door.body.error).toBe('invalid_target');
    const wider = (await letIn()).refresh_token!;
    expect((await client.refresh(wider, { scope: 'operator' })).body.error).toBe('invalid_scope');
  });

  it('of a person who is shut out gives nothing any more', async () => {
    const person = await platform.addPerson(['patchbay-user']);
    const theirs = await signedIn(platform, person.userId);
    const url = client.authorizeUrl({ resource: platform.operatorUrl });
    const { body } = await client.redeem(await codeFor(theirs, url, []));
    await platform.platform.users.disable(person.userId);
    expect((await client.refresh(body.refresh_token!)).body.error).toBe('invalid_grant');
    await refused('grant-revoked');
  });
});

describe.each(['refresh_token', 'access_token'] as const)('taking back a %s', kind => {
  const revoke = (token: string, clientId = client.id) =>
    post(`${platform.url}/oauth/revoke`, { token, client_id: clientId, token_type_hint: kind });

  it('takes back what the person allowed: its other tokens end, too (RFC 7009)', async () => {
    const tokens = await letIn();
    expect(await ping(tokens.access_token)).not.toBe(401);
    expect((await revoke(tokens[kind]!)).status).toBe(200);
    expect((await client.refresh(tokens.refresh_token!)).body.error).toBe('invalid_grant');
    expect(await ping(tokens.access_token)).toBe(401);
    expect((await revoke(tokens[kind]!)).status).toBe(200);
  });

  it('does nothing for another client, for one that nobody knows, or with a made-up token', async () => {
    const tokens = await letIn();
    const other = await newClient(platform);
    expect((await revoke(tokens[kind]!, other.id)).status).toBe(200);
    expect((await revoke(tokens[kind]!, 'client_none')).status).toBe(401);
    expect((await revoke(`${tokens[kind]!.slice(0, -4)}AAAA`)).status).toBe(200);
    expect(await ping(tokens.access_token)).not.toBe(401);
    expect((await client.refresh(tokens.refresh_token!)).status).toBe(200);
  });
});

describe.each(['refresh_token', 'access_token'] as const)('asking about a %s', kind => {
  const introspect = async (token: string, parameters: Record<string, string | undefined> = {}) =>
    post(`${platform.url}/oauth/introspect`, { token, client_id: client.id, ...parameters });

  it('tells its own client what it is, while it holds (RFC 7662)', async () => {
    const tokens = await letIn();
    const { body } = await introspect(tokens[kind]!);
    expect(body).toMatchObject({
      active: true,
      sub: platform.platform.owner.id,
      client_id: client.id,
      scope: 'agents',
      iss: platform.url,
    });
    await post(`${platform.url}/oauth/revoke`, { token: tokens.refresh_token, client_id: client.id });
    expect((await introspect(tokens[kind]!)).body).toEqual({ active: false });
  });

  it('tells nobody else anything', async () => {
    const tokens = await letIn();
    const other = await newClient(platform);
    expect((await introspect(tokens[kind]!, { client_id: other.id })).body).toEqual({ active: false });
    const unknown = await introspect(tokens[kind]!, { client_id: 'client_none' });
    expect([unknown.status, unknown.body.error]).toEqual([401, 'invalid_client']);
    expect((await introspect(tokens[kind]!, { client_id: undefined })).status).toBeGreaterThanOrEqual(400);
    expect((await introspect('made.up.token')).body).toEqual({ active: false });
  });
});

// A year of its own: whoever is signed in, and what was registered, is over by then, too.
describe('a refresh token that nobody uses', () => {
  it('is over after thirty days, and what was allowed is asked for again', async () => {
    const { refresh_token } = await letIn();
    clock.jump(31 * 24 * 3_600_000);
    expect((await client.refresh(refresh_token!)).body.access_token).toBeUndefined();
    await refused('unknown-refresh-token');
  });
});
