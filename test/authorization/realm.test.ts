import { createHmac, createPublicKey } from 'node:crypto';
import { createClient } from '@patchbay/contract/client';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { type RealmUser, startTestRealm, type TestRealm } from '@patchbay/testing/realm';
import { engines, newTestDatabase } from '@patchbay/testing/stores';
import { decodeJwt, importJWK, type JWK, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../packages/server/src/kernel/clock.ts';
import { setDisabled } from '../../packages/server/src/store/tables/accounts.ts';
import { callTool, rpc, toolError } from '../doors/wire.ts';
import { createTokenKit } from './tokens.ts';

const anna: RealmUser = { subject: 'f:1:anna', roles: ['eddi-admin', 'offline_access'], name: 'Anna' };
const ben: RealmUser = { subject: 'f:1:ben', roles: ['eddi-viewer'] };
const nobody: RealmUser = { subject: 'f:1:nobody', roles: ['uma_authorization'] };

describe.each(engines)('an external OpenID realm, on %s', engine => {
  const undo = new AsyncDisposableStack();
  let realm: TestRealm;
  let platform: TestPlatform;
  /** How far the platform's clock is ahead. */
  let ahead = 0;
  const seconds = () => Math.floor((Date.now() + ahead) / 1000);

  beforeAll(async () => {
    realm = undo.use(await startTestRealm());
    const database = engine === 'postgres' ? undo.use(await newTestDatabase()) : undefined;
    platform = await startTestPlatform({
      ...(database && { databaseUrl: database.url }),
      env: { PATCHBAY_OIDC_ISSUER: realm.issuer },
      overrides: { clock: { ...systemClock, now: () => Date.now() + ahead } },
    });
    undo.defer(() => platform.close());
  });
  afterAll(() => undo.disposeAsync());

  const tokenOf = (user: RealmUser) => realm.token(user, platform.operatorUrl);
  const status = async (key: string) => (await rpc(platform.operatorUrl, 'tools/list', {}, { key })).status;
  const toolsOf = async (key: string) =>
    (await rpc(platform.operatorUrl, 'tools/list', {}, { key })).body.result.tools.map(
      ({ name }: { name: string }) => name,
    ) as string[];

  /** What the realm's key would sign for somebody who has it. */
  async function signed(
    claims: Record<string, unknown>,
    header: Record<string, unknown> = {},
    key: Parameters<SignJWT['sign']>[0] | undefined = undefined,
  ): Promise<string> {
    const [jwk] = realm.keys as readonly JWK[];
    return new SignJWT({ ...decodeJwt(await tokenOf(ben)), ...claims })
      .setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid: jwk!.kid!, ...header })
      .sign(key ?? (await importJWK(jwk!, 'RS256')));
  }

  it('is where clients of the operator door are sent, and nobody else (E-37, E-41)', async () => {
    const metadata = async (path: string) =>
      (await (await fetch(`${platform.url}/.well-known/oauth-protected-resource${path}`)).json()) as {
        authorization_servers: string[];
      };
    expect((await metadata('/mcp')).authorization_servers).toEqual([realm.issuer]);
    expect((await metadata('/demo/mcp')).authorization_servers).toEqual([platform.url]);
    expect((await metadata('')).authorization_servers).toEqual([platform.url]);
  });

  it('says who may do what, in its own words for the roles (E-35, E-45)', async () => {
    expect(await toolsOf(await tokenOf(anna))).toContain('deploy_agent');
    const viewer = await toolsOf(await tokenOf(ben));
    expect(viewer).toContain('discover_agents');
    expect(viewer).not.toContain('deploy_agent');
    const rest = await fetch(`${platform.url}/api/v1/discovery`, {
      headers: { authorization: `Bearer ${await tokenOf(ben)}` },
    });
    expect(rest.status).toBe(200);
  });

  it('lets somebody without a role in, who is then told by every tool which roles it takes (E-45)', async () => {
    const key = await tokenOf(nobody);
    expect(await status(key)).toBe(200);
    const answer = await callTool(platform.operatorUrl, 'list_agents', {}, { key });
    expect(toolError(answer)).toMatchObject({
      errorCode: 'FORBIDDEN',
      error: expect.stringContaining('requires one of roles'),
    });
  });

  it('has each of its people be one person here, with their roles as they come (attack 22)', async () => {
    const users = createClient({ baseUrl: platform.url, token: platform.ownerToken, fetch });
    const found = async () =>
      (await users.call('list_users', { limit: 100 })).users.filter(({ name }) => name === 'Anna');
    await status(await tokenOf(anna));
    await status(await tokenOf(anna));
    expect(await found()).toHaveLength(1);
    expect((await found())[0]!.roles).toEqual(['patchbay-admin']);
    await status(await tokenOf({ ...anna, roles: ['eddi-editor'] }));
    expect((await found())[0]!.roles).toEqual(['patchbay-editor']);
    const conversation = await callTool(
      platform.operatorUrl,
      'create_conversation',
      { agentId: 'demo' },
      { key: await tokenOf(anna) },
    );
    expect(toolError(conversation)).toBeUndefined();
    await status(await tokenOf(anna));
    // Another issuer may have a subject of the same name; what stands in the token decides, and not the name.
    await status(await tokenOf({ ...ben, name: 'Anna' }));
    expect(await found()).toHaveLength(1);
  });

  it('is trusted instead of us: our tokens for the operator door open nothing, keys and the local owner do', async () => {
    const kit = await createTokenKit(platform);
    const grant = await kit.allow(platform.platform.owner.id, { door: 'operator' });
    expect(await status(await kit.operatorToken(grant))).toBe(401);
    expect(await status(platform.operatorKey)).toBe(200);
    expect(await status(platform.ownerToken)).toBe(200);
  });

  it('opens no agent: its tokens are for the operator door (B-18)', async () => {
    const { status: agent } = await rpc(
      platform.agentUrl('demo'),
      'tools/list',
      {},
      { key: await tokenOf(anna) },
    );
    expect(agent).toBe(401);
  });

  it('a session goes on with the next token of the same person and client (attack 17)', async () => {
    const hello = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'x', version: '1' },
    };
    const opened = await rpc(platform.operatorUrl, 'initialize', hello, { key: await tokenOf(anna) });
    const headers = { 'mcp-session-id': opened.headers.get('mcp-session-id')! };
    const list = async (key: string) =>
      (await rpc(platform.operatorUrl, 'tools/list', {}, { key, headers })).status;
    expect(await list(await tokenOf(anna))).toBe(200);
    expect(await list(await tokenOf(ben))).toBe(404);
    expect(await list(await signed({ ...decodeJwt(await tokenOf(anna)), client_id: 'other' }))).toBe(404);
  });

  describe('a token that opens nothing', () => {
    it.each([
      ['is for another audience (attack 1)', () => ({ aud: 'https://evil.example/mcp' })],
      ['is for an agent (attack 1)', () => ({ aud: platform.agentUrl('demo') })],
      ['is for all agents (attack 1)', () => ({ aud: platform.url })],
      ['has no audience (attack 1)', () => ({ aud: undefined })],
      ['is of another issuer (attack 1)', () => ({ iss: 'https://evil.example' })],
      ['has ended (attack 3)', () => ({ exp: seconds() - 10 })],
      ['begins later (attack 3)', () => ({ nbf: seconds() + 60 })],
      ['never ends', () => ({ exp: undefined })],
      ['is for nobody', () => ({ sub: undefined })],
      ['is for somebody who is no text', () => ({ sub: { $ne: '' } })],
      ['is for somebody whose name ends early', () => ({ sub: 'anna\0' })],
      ['is an id token by its own word', () => ({ typ: 'ID' })],
      ['is a refresh token by its own word', () => ({ typ: 'Refresh' })],
      ['belongs to an access token', () => ({ at_hash: 'x' })],
      ['is bound to a key', () => ({ cnf: { jkt: 'x' } })],
    ] as [string, () => Record<string, unknown>][])('%s', async (_name, claims) => {
      expect(await status(await signed({}))).toBe(200);
      expect(await status(await signed(claims()))).toBe(401);
    });

    it('is an id token, also one that is for us', async () => {
      const { id } = await realm.tokens(ben, platform.operatorUrl);
      expect(await status(id)).toBe(401);
      const forUs = { ...decodeJwt(id), aud: platform.operatorUrl };
      const token = await new SignJWT(forUs)
        .setProtectedHeader({ alg: 'RS256', kid: (realm.keys as readonly JWK[])[0]!.kid! })
        .sign(await importJWK((realm.keys as readonly JWK[])[0]!, 'RS256'));
      expect(await status(token)).toBe(401);
    });

    it('is signed by nobody, or with what everybody knows (attack 2)', async () => {
      const [head, payload] = (await tokenOf(anna)).split('.') as [string, string];
      const { kid } = JSON.parse(Buffer.from(head, 'base64url').toString()) as { kid: string };
      const encode = (header: object) => Buffer.from(JSON.stringify(header)).toString('base64url');
      expect(await status(`${encode({ alg: 'none', typ: 'at+jwt', kid })}.${payload}.`)).toBe(401);
      const pem = createPublicKey({ key: realm.keys[0] as never, format: 'jwk' }).export({
        type: 'spki',
        format: 'pem',
      });
      const forged = `${encode({ alg: 'HS256', typ: 'at+jwt', kid })}.${payload}`;
      const mac = createHmac('sha256', pem).update(forged).digest('base64url');
      expect(await status(`${forged}.${mac}`)).toBe(401);
    });

    it('says where its key is, which is not fetched (attack 2)', async () => {
      const before = realm.asked('/elsewhere');
      for (const header of [{ jku: `${realm.issuer}/elsewhere` }, { x5u: `${realm.issuer}/elsewhere` }])
        expect(await status(await signed({ jti: 'x' }, { ...header, kid: 'unknown' }))).toBe(401);
      expect(realm.asked('/elsewhere')).toBe(before);
    });

    it('names keys that nobody has: the realm is asked for them once a minute (attack 2)', async () => {
      ahead += 61_000;
      await status(await signed({}, { kid: 'first' }));
      const before = realm.asked('/jwks');
      await Promise.all(
        Array.from({ length: 20 }, async (_, index) =>
          status(await signed({}, { kid: `../../${index}' or 1=1` })),
        ),
      );
      expect(realm.asked('/jwks')).toBe(before);
    });
  });

  it('may sign with another key from one moment to the next', async () => {
    const old = await tokenOf(anna);
    const unused = await tokenOf(ben);
    expect(await status(old)).toBe(200);
    ahead += 61_000;
    realm.rotate();
    expect(await status(await tokenOf(anna))).toBe(200);
    // In use, so it goes on until it ends; one that nobody has seen is signed with a key that is no longer the realm's.
    expect(await status(old)).toBe(200);
    expect(await status(unused)).toBe(401);
  });

  it('cannot let somebody in who is shut out here (attack 14)', async () => {
    const key = await tokenOf({ subject: 'f:1:carol', roles: ['eddi-admin'], name: 'Carol' });
    expect(await status(key)).toBe(200);
    const users = createClient({ baseUrl: platform.url, token: platform.ownerToken, fetch });
    const carol = (await users.call('list_users', { limit: 100 })).users.find(
      ({ name }) => name === 'Carol',
    )!;
    await platform.platform.store.commit(db => setDisabled(db, carol.userId, true));
    expect(await status(key)).toBe(401);
  });

  it('that does not answer keeps nobody out who is in, and tells others to wait (E-46, E-47)', async () => {
    const exp = seconds() + 3600;
    const known = await signed({ exp, jti: 'known' });
    const unseen = await signed({ exp, jti: 'unseen' });
    expect(await status(known)).toBe(200);
    realm.setDown(true);
    ahead += 11 * 60_000;
    expect(await status(known)).toBe(200);
    const waits = await rpc(platform.operatorUrl, 'tools/list', {}, { key: unseen });
    expect([waits.status, waits.headers.get('retry-after'), waits.body.error.data]).toEqual([
      503,
      '5',
      { code: 'unavailable' },
    ]);
    const rest = await fetch(`${platform.url}/api/v1/discovery`, {
      headers: { authorization: `Bearer ${unseen}` },
    });
    expect(rest.status).toBe(503);
    expect(await status(platform.operatorKey)).toBe(200);
    realm.setDown(false);
    ahead += 6_000;
    expect(await status(unseen)).toBe(200);
    ahead += 3600_000;
    expect(await status(known)).toBe(401);
  });
});

describe('a realm by its settings', () => {
  const undo = new AsyncDisposableStack();
  let realm: TestRealm;
  beforeAll(async () => {
    realm = undo.use(await startTestRealm());
  });
  afterAll(() => undo.disposeAsync());

  async function withSettings(env: Record<string, string>, look: (platform: TestPlatform) => Promise<void>) {
    const platform = await startTestPlatform({ env });
    try {
      await look(platform);
    } finally {
      await platform.close();
    }
  }
  const open = (platform: TestPlatform, key: string) => rpc(platform.operatorUrl, 'tools/list', {}, { key });

  it('may be reached elsewhere than it says (E-41), have tokens of another audience, and call roles what it wants', async () => {
    const { port } = new URL(realm.issuer);
    await withSettings(
      {
        PATCHBAY_OIDC_ISSUER: `http://localhost:${port}`,
        PATCHBAY_OIDC_TOKEN_ISSUER: realm.issuer,
        PATCHBAY_OIDC_AUDIENCE: 'urn:bay',
        PATCHBAY_OIDC_ROLES_CLAIM: 'realm_access.roles',
        PATCHBAY_OIDC_ROLE_NAMES: 'Staff=patchbay-viewer,Chiefs=eddi-admin',
      },
      async platform => {
        const chief = { subject: 'dora', roles: ['Chiefs', 'staff'] };
        const answer = await open(platform, await realm.token(chief, 'urn:bay'));
        expect(JSON.stringify(answer.body)).toContain('"deploy_agent"');
        expect((await open(platform, await realm.token(chief, platform.operatorUrl))).status).toBe(401);
        const { body } = await open(platform, await realm.token({ ...chief, roles: ['Staff'] }, 'urn:bay'));
        expect(JSON.stringify(body)).not.toContain('"deploy_agent"');
        const metadata = await fetch(`${platform.url}/.well-known/oauth-protected-resource/mcp`);
        expect(await metadata.json()).toMatchObject({ authorization_servers: [realm.issuer] });
      },
    );
  });

  it('is read and never changed: it is asked for its documents and nothing else (E-53)', async () => {
    const token = await realm.token({ subject: 'eve', roles: ['eddi-user'] }, 'urn:bay');
    const before = realm.requests().length;
    const env = { PATCHBAY_OIDC_ISSUER: realm.issuer, PATCHBAY_OIDC_AUDIENCE: 'urn:bay' };
    await withSettings(env, async platform => expect((await open(platform, token)).status).toBe(200));
    const asked = new Set(realm.requests().slice(before));
    expect([...asked].toSorted()).toEqual(['GET /.well-known/openid-configuration', 'GET /jwks']);
  });

  it('that is not there keeps no platform from starting, and the log says so', async () => {
    await withSettings({ PATCHBAY_OIDC_ISSUER: 'http://127.0.0.1:9' }, async platform => {
      await expect
        .poll(() => platform.logLines().filter(line => JSON.stringify(line).includes('realm')))
        .toEqual([expect.objectContaining({ message: expect.stringContaining('does not answer') })]);
      const token = await realm.token({ subject: 'x', roles: [] }, platform.operatorUrl);
      expect((await open(platform, token)).status).toBe(503);
      expect((await open(platform, platform.operatorKey)).status).toBe(200);
    });
  });

  it('that calls itself by another name is not believed (attack 9)', async () => {
    const { port } = new URL(realm.issuer);
    await withSettings({ PATCHBAY_OIDC_ISSUER: `http://localhost:${port}` }, async platform => {
      const token = await realm.token({ subject: 'x', roles: [] }, platform.operatorUrl);
      expect((await open(platform, token)).status).toBe(503);
    });
  });

  it.each([
    [{ PATCHBAY_OIDC_ISSUER: 'http://sso.example.com/realms/x' }, /PATCHBAY_OIDC_ISSUER is http:/],
    [
      { PATCHBAY_OIDC_ISSUER: 'https://sso.example.com', PATCHBAY_OIDC_TOKEN_ISSUER: 'http://sso' },
      /PATCHBAY_OIDC_TOKEN_ISSUER is http:/,
    ],
    [{ PATCHBAY_OIDC_ROLE_NAMES: 'staff=king' }, /PATCHBAY_OIDC_ROLE_NAMES/],
    [{ PATCHBAY_AUTH: 'off', PATCHBAY_HOST: '0.0.0.0' }, /Authentication is off/],
  ])('%j keeps the platform from starting (E-50)', async (env: Record<string, string>, message) => {
    await expect(startTestPlatform({ env })).rejects.toThrow(message);
  });
});
