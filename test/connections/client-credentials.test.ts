// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import { randomBytes } from 'node:crypto';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { RegisteredClient } from '../../packages/server/src/connections/server/definition.ts';
import { McpServerDescriptor } from '../../packages/server/src/connections/server/server-descriptor.ts';
import { systemClock } from '../../packages/server/src/kernel/clock.ts';
import { createSafeFetch } from '../../packages/server/src/kernel/safe-fetch.ts';
import { dumpTables, newCanary, placesWith } from '../canary.ts';
import { type Rig, rigOn } from './live-rig.ts';
import { type ProtectedServer, startProtectedServer, type TokenAnswer } from './servers/protected-server.ts';
import { httpEndpoint, testPool } from './test-pool.ts';

const lasting = (value: string, seconds = 3_600): TokenAnswer => ({
  body: { access_token: value, token_type: 'Bearer', expires_in: seconds },
});
const basic = (id: string, secret: string) => `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;

/** A client as an endpoint has it, with everything resolved. */
const clientAt = (server: ProtectedServer, more: Partial<RegisteredClient> = {}): RegisteredClient => ({
  ...{ clientId: 'us', clientSecret: 'our-secret', tokenUrl: `${server.issuer}/token` },
  ...{ issuer: undefined, scope: undefined, audience: undefined, sendResource: undefined },
  ...more,
});

/** Calls a tool of the server through a pool whose time the test moves. */
function connectionTo(server: ProtectedServer, more: Partial<RegisteredClient> = {}) {
  const time = { now: 1_000_000 };
  const pool = testPool({ clock: { ...systemClock, now: () => time.now } });
  const connection = pool.connection({
    endpoint: {
      ...httpEndpoint(server.url, { Authorization: 'Bearer static' }),
      client: clientAt(server, more),
    },
    scope: 'test',
    connectTimeoutMs: 5_000,
  });
  return {
    time,
    call: () => connection.request({ method: 'tools/call', params: { name: 'a' }, timeoutMs: 5_000 }),
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}

describe('A client of the authorization server', () => {
  it('has a token before the first request, and never shows the static header (A-180, A-182)', async () => {
    await using server = await startProtectedServer();
    await using to = connectionTo(server);
    await to.call();
    await to.call();
    expect(server.asked).toEqual(['/token']);
    expect(new Set(server.heard.map(({ authorization }) => authorization))).toEqual(
      new Set(['Bearer token-1']),
    );
  });

  it('sends its secret, and no scope and no audience that nobody gave (A-179, A-184)', async () => {
    await using server = await startProtectedServer();
    await using to = connectionTo(server);
    await to.call();
    const [{ form, authorization }] = server.tokenRequests as [ProtectedServer['tokenRequests'][number]];
    expect(authorization).toBe(basic('us', 'our-secret'));
    expect(Object.fromEntries(form)).toEqual({ grant_type: 'client_credentials', resource: server.url });
  });

  it('asks for the scope and the audience that are given, and leaves out what it is told to (A-179)', async () => {
    await using server = await startProtectedServer();
    await using to = connectionTo(server, { scope: 'read write', audience: 'the-api', sendResource: false });
    await to.call();
    expect(Object.fromEntries(server.tokenRequests[0]!.form)).toEqual({
      ...{ grant_type: 'client_credentials', scope: 'read write', audience: 'the-api' },
    });
  });

  it('finds out where tokens are got, and sends its secret as that wants it, where nobody said (A-179)', async () => {
    await using server = await startProtectedServer({
      metadata: own => ({ ...own, token_endpoint_auth_methods_supported: ['client_secret_post'] }),
    });
    await using to = connectionTo(server, { tokenUrl: undefined });
    await to.call();
    const { form, authorization } = server.tokenRequests[0]!;
    expect(authorization).toBeUndefined();
    expect(Object.fromEntries(form)).toMatchObject({ client_id: 'us', client_secret: 'our-secret' });
    expect(server.executed).toEqual(['Bearer token-1']);
  });

  it('gets a new token before the old one ends (A-180)', async () => {
    await using server = await startProtectedServer({ token: (_, earlier) => lasting(`t${earlier}`) });
    await using to = connectionTo(server);
    await to.call();
    to.time.now += 3_500_000;
    await to.call();
    to.time.now += 50_000;
    await to.call();
    expect(server.executed).toEqual(['Bearer t0', 'Bearer t0', 'Bearer t1']);
    expect(server.refused).toEqual([]);
  });

  it('repeats a call that was refused once, with a new token, the first token included (A-181)', async () => {
    await using server = await startProtectedServer({ token: (_, earlier) => lasting(`t${earlier}`) });
    const refusesNew = vi.spyOn(server.valid, 'add').mockImplementation(() => server.valid);
    await using to = connectionTo(server);
    await expect(to.call()).rejects.toMatchObject({ kind: 'AUTHENTICATION_FAILED', reached: 'no' });
    expect(server.refused).toEqual(['Bearer t0', 'Bearer t1']);
    refusesNew.mockRestore();
    await to.call();
    server.valid.clear();
    await to.call();
    expect(server.executed).toEqual(['Bearer t2', 'Bearer t3']);
  });

  it('asks once for fifty calls at a time (A-180)', async () => {
    await using server = await startProtectedServer({ token: (_, earlier) => lasting(`t${earlier}`) });
    await using to = connectionTo(server);
    await Promise.all(Array.from({ length: 50 }, to.call));
    expect(server.tokenRequests).toHaveLength(1);
    server.valid.clear();
    await Promise.all(Array.from({ length: 50 }, to.call));
    expect(server.tokenRequests).toHaveLength(2);
    expect(server.executed).toHaveLength(100);
  });

  it('sends nothing while it has no token, and says why', async () => {
    await using server = await startProtectedServer({
      token: () => ({ status: 401, body: { error: 'invalid_client', error_description: 'who are you' } }),
    });
    await using to = connectionTo(server);
    await expect(to.call()).rejects.toMatchObject({ kind: 'AUTHENTICATION_FAILED', reached: 'no' });
    await expect(to.call()).rejects.toThrow('invalid_client: who are you');
    expect(server.heard).toEqual([]);
  });

  it.each(['tokenUrl', 'issuer'] as const)(
    'asks no %s at a private address that nobody opened (attack 33)',
    async where => {
      await using server = await startProtectedServer({ host: 'localhost' });
      const address = { tokenUrl: `${server.issuer}/token`, issuer: server.issuer }[where];
      const fetch = createSafeFetch({ allowPrivate: host => host === '127.0.0.1' });
      await using pool = testPool({ fetch });
      const connection = pool.connection({
        endpoint: {
          ...httpEndpoint(server.url),
          client: clientAt(server, { tokenUrl: undefined, [where]: address }),
        },
        ...{ scope: 'test', connectTimeoutMs: 5_000 },
      });
      const call = connection.request({ method: 'tools/call', params: { name: 'a' }, timeoutMs: 5_000 });
      await expect(call).rejects.toMatchObject({ kind: 'AUTHENTICATION_FAILED', reached: 'no' });
      expect(server.asked).toEqual([]);
      await fetch.close();
    },
  );

  it('is another connection than that of another client of the same server (E-92)', async () => {
    await using server = await startProtectedServer();
    await using pool = testPool();
    const connectionOf = (clientId: string) =>
      pool.connection({
        endpoint: { ...httpEndpoint(server.url), client: clientAt(server, { clientId }) },
        ...{ scope: 'test', connectTimeoutMs: 5_000 },
      });
    expect(connectionOf('one')).not.toBe(connectionOf('other'));
    expect(connectionOf('one')).toBe(connectionOf('one'));
  });

  it('is what the descriptor of a plugin says (A-42, A-178, A-179)', () => {
    const properties = {
      'mcp.crm.url': 'https://crm.example/mcp',
      'mcp.crm.external': 'false',
      'mcp.crm.headers.Authorization': 'Bearer ${TOKEN:}',
      'mcp.crm.oauth.token-url': 'https://login.example/token',
      'mcp.crm.oauth.client-id': 'us',
      'mcp.crm.oauth.client-secret': '${SECRET:}',
    };
    const definition = McpServerDescriptor.fromEnvironment('crm', {
      properties,
      variables: { SECRET: 'hidden', TOKEN: 'static' },
    }).toDefinition({
      scope: 'plugin',
      texts: { compile: source => ({ source, text: source, references: [], mark: '' }) },
    });
    expect(definition.auth).toEqual({
      kind: 'clientCredentials',
      oauth: {
        ...{ tokenUrl: 'https://login.example/token', clientId: 'us', clientSecret: 'hidden' },
        ...{ scope: undefined, audience: undefined, issuer: undefined, sendResource: undefined },
      },
    });
    // One that is static, too: a token takes its place when there is one (A-178, A-182).
    expect(definition.transport).toMatchObject({ headers: { Authorization: 'Bearer static' } });
  });
});

describe('A registered server with client credentials', () => {
  let platform: TestPlatform;
  let rig: Rig;
  beforeAll(async () => {
    platform = await startTestPlatform({
      env: {
        PATCHBAY_EGRESS_PRIVATE_HOSTS: '127.0.0.1',
        PATCHBAY_VAULT_KEY: randomBytes(32).toString('hex'),
      },
    });
    rig = rigOn(platform);
  });
  afterAll(() => platform?.close());

  const options = (server: ProtectedServer, oauth: object) => ({
    url: server.url,
    headers: { authorization: 'Bearer static' },
    oauth: { client_id: 'us', token_url: `${server.issuer}/token`, ...oauth },
  });

  it('is used by rules and by people, with one token for all of them (A-176, A-179)', async () => {
    await using server = await startProtectedServer({ tools: ['look'] });
    await rig.add('shared', options(server, { client_secret: 'our-secret', audience: 'crm' }));
    await rig.becomes('shared', 'available');
    expect(await rig.call('shared', 'look', {}, 'ann')).toMatchObject({ kind: 'answered' });
    expect(await rig.call('shared', 'look', {}, 'bob')).toMatchObject({ kind: 'answered' });
    const talk = await rig.talker('shared', { looked: { toolName: 'look' } });
    await talk('looked');
    expect(server.executed).toEqual(['Bearer token-1', 'Bearer token-1', 'Bearer token-1']);
    expect(server.tokenRequests.map(({ authorization }) => authorization)).toEqual([
      basic('us', 'our-secret'),
    ]);
    expect(server.tokenRequests[0]!.form.get('audience')).toBe('crm');
    await rig.remove('shared');
  });

  it('keeps its secret in the vault, and neither it nor a token is anywhere else (A-183, attack 46)', async () => {
    const secret = newCanary();
    const token = newCanary();
    await using server = await startProtectedServer({
      tools: ['look', 'fail'],
      token: () => ({ body: { access_token: token.core, token_type: 'Bearer' } }),
      say: authorization => `you came with ${authorization}`,
    });
    await rig.add('kept', options(server, { client_secret: secret.value }));
    await rig.becomes('kept', 'available');
    const answer = await rig.call('kept', 'look');
    expect(answer).toMatchObject({ kind: 'answered', text: 'you came with Bearer [redacted]' });
    server.valid.clear();
    const shown = await rig.client.call('read_server', { name: 'kept' });
    expect(shown).toMatchObject({
      options: {
        oauth: { clientId: 'us', clientSecret: '${vault:servers.default.kept.oauth.clientSecret}' },
      },
    });
    const tables = await dumpTables(platform.platform.store);
    const places = { answer, shown, tables, logs: platform.logLines() };
    expect(placesWith(secret, places)).toEqual([]);
    expect(placesWith(token, places)).toEqual([]);
    expect(
      placesWith(secret, { sent: server.tokenRequests.map(({ authorization }) => authorization) }),
    ).toEqual(['sent']);
    expect(placesWith(token, { sent: server.executed })).toEqual(['sent']);
    await rig.remove('kept');
  });

  it('shows its new secret as soon as the vault has it (attack 20)', async () => {
    await using server = await startProtectedServer({ tools: ['look'] });
    await rig.client.call('put_secret', { name: 'crm', value: 'first-secret' });
    await rig.add('turned', options(server, { client_secret: '${vault:crm}' }));
    await rig.becomes('turned', 'available');
    await rig.client.call('put_secret', { name: 'crm', value: 'other-secret' });
    await rig.call('turned', 'look');
    expect(server.tokenRequests.map(({ authorization }) => authorization)).toEqual([
      basic('us', 'first-secret'),
      basic('us', 'other-secret'),
    ]);
    expect(server.executed).toEqual(['Bearer token-2']);
    await rig.remove('turned');
  });
});
