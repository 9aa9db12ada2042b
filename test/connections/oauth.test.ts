import { afterAll, describe, expect, it, vi } from 'vitest';
import { clientCredentials, jwtBearer } from '../../packages/server/src/connections/credential/grant.ts';
import { enterpriseManaged } from '../../packages/server/src/connections/credential/id-jag.ts';
import {
  createOAuthCredential,
  type OAuthCredentialOptions,
} from '../../packages/server/src/connections/credential/oauth-credential.ts';
import { type Redirect, signIn } from '../../packages/server/src/connections/credential/sign-in.ts';
import { createMemoryTokenStore } from '../../packages/server/src/connections/credential/token-store.ts';
import { createLogger } from '../../packages/server/src/kernel/logger.ts';
import { createSafeFetch } from '../../packages/server/src/kernel/safe-fetch.ts';
import { newCanary, placesWith } from '../canary.ts';
import { type ProtectedServer, startProtectedServer, type TokenAnswer } from './servers/protected-server.ts';
import { httpEndpoint, testPool } from './test-pool.ts';

const fetch = createSafeFetch({ allowPrivate: () => true });
afterAll(() => fetch.close());

/** A browser whose person allows everything. */
const redirect: Redirect = {
  url: 'http://localhost/back',
  async visit(address) {
    const answer = await globalThis.fetch(address, { redirect: 'manual' });
    return new URL(answer.headers.get('location')!).searchParams;
  },
};
const registered = { name: 'test', registered: { id: 'us', secret: 'our-secret' } };
const renewable = (value: string, more = {}): TokenAnswer => ({
  body: { access_token: value, token_type: 'Bearer', refresh_token: `renews-${value}`, ...more },
});

/** Calls a tool of the server through a pool; the options are the credential's. */
function connectionTo(server: ProtectedServer, options: Partial<OAuthCredentialOptions> = {}) {
  const time = { now: 1_000_000 };
  const store = createMemoryTokenStore();
  const credential = createOAuthCredential({
    url: server.url,
    hostFrom: 'operator',
    grant: clientCredentials,
    identity: registered,
    store,
    fetch,
    clock: { now: () => time.now },
    ...options,
  });
  const pool = testPool();
  const connection = pool.connection({
    endpoint: httpEndpoint(server.url, { Authorization: 'Bearer static' }),
    scope: 'test',
    connectTimeoutMs: 5_000,
    credential,
  });
  return {
    time,
    store,
    call: () => connection.request({ method: 'tools/call', params: { name: 'a' }, timeoutMs: 5_000 }),
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}

describe('A token that a server wants', () => {
  it('is got when it is wanted, names the server it is for, and goes out in place of a static one (A-182)', async () => {
    await using server = await startProtectedServer();
    await using to = connectionTo(server);
    await to.call();
    await to.call();
    expect(server.tokenRequests).toHaveLength(1);
    expect(Object.fromEntries(server.tokenRequests[0]!.form)).toEqual({
      grant_type: 'client_credentials',
      resource: server.url,
    });
    expect(server.executed).toEqual(['Bearer token-1', 'Bearer token-1']);
  });

  it('is renewed before it ends, also after a renewal that failed (A-180)', async () => {
    const answers = [
      renewable('a', { expires_in: 3_600 }),
      { status: 503, body: {} },
      renewable('b', { expires_in: 3_600 }),
    ];
    await using server = await startProtectedServer({ token: (_, earlier) => answers[earlier] });
    await using to = connectionTo(server);
    await to.call();
    to.time.now += 3_500_000;
    await to.call();
    to.time.now += 50_000;
    await to.call();
    expect(server.executed).toEqual(['Bearer a', 'Bearer a', 'Bearer a']);
    to.time.now += 20_000;
    await to.call();
    expect(server.executed.at(-1)).toBe('Bearer b');
    expect(server.tokenRequests.map(({ form }) => form.get('refresh_token'))).toEqual([
      null,
      'renews-a',
      'renews-a',
    ]);
  });

  it('that is refused is renewed, and the call is sent once more (A-181)', async () => {
    await using server = await startProtectedServer({
      token: (_, earlier) => renewable(`t${earlier}`),
    });
    await using to = connectionTo(server);
    await to.call();
    server.valid.delete('t0');
    await to.call();
    expect(server.executed).toEqual(['Bearer t0', 'Bearer t1']);
    expect(server.tokenRequests[1]!.form.get('grant_type')).toBe('refresh_token');
  });

  it('that is refused though it is new ends the call; the next call gets one in another way than by renewing (A-181)', async () => {
    await using server = await startProtectedServer({ token: (_, earlier) => renewable(`t${earlier}`) });
    await using to = connectionTo(server);
    await to.call();
    server.valid.clear();
    const refusesRenewed = vi.spyOn(server.valid, 'add').mockImplementation(() => server.valid);
    await expect(to.call()).rejects.toMatchObject({ kind: 'AUTHENTICATION_FAILED', reached: 'no' });
    expect(server.refused.slice(-2)).toEqual(['Bearer t0', 'Bearer t1']);
    refusesRenewed.mockRestore();
    await to.call();
    expect(server.tokenRequests.map(({ form }) => form.get('grant_type'))).toEqual([
      'client_credentials',
      'refresh_token',
      'client_credentials',
    ]);
  });

  it('is renewed once for fifty calls at a time, and a failure of the authorization server loses nothing (attack 11)', async () => {
    let down = true;
    await using server = await startProtectedServer({
      token: (form, earlier) =>
        form.get('grant_type') === 'refresh_token' && down
          ? { status: 500, body: { error: 'server_error' } }
          : renewable(`t${earlier}`),
    });
    await using to = connectionTo(server);
    await to.call();
    server.valid.clear();
    await expect(to.call()).rejects.toMatchObject({ kind: 'AUTHENTICATION_FAILED' });
    expect((await to.store.read())!.token).toMatchObject({ value: 't0', refresh: 'renews-t0' });
    down = false;
    const before = server.tokenRequests.length;
    await Promise.all(Array.from({ length: 50 }, to.call));
    expect(server.tokenRequests.length - before).toBe(1);
    expect(server.executed).toHaveLength(51);
  });

  it('is renewed once by two who share what is kept (attack 11)', async () => {
    await using server = await startProtectedServer({ token: (_, earlier) => renewable(`t${earlier}`) });
    await using one = connectionTo(server);
    await using other = connectionTo(server, { store: one.store });
    await one.call();
    await other.call();
    server.valid.clear();
    await Promise.all([one.call(), other.call()]);
    expect(server.tokenRequests.map(({ form }) => form.get('grant_type'))).toEqual([
      'client_credentials',
      'refresh_token',
    ]);
  });

  it('that cannot be renewed any more is got anew', async () => {
    await using server = await startProtectedServer({
      token: (form, earlier) =>
        form.get('grant_type') === 'refresh_token'
          ? { status: 400, body: { error: 'invalid_grant' } }
          : renewable(`t${earlier}`),
    });
    await using to = connectionTo(server);
    await to.call();
    server.valid.clear();
    await to.call();
    expect(server.executed).toEqual(['Bearer t0', 'Bearer t2']);
  });

  it.each([
    ['with a line break', { access_token: 'a\r\nx: y', token_type: 'Bearer' }],
    ['of another type', { access_token: 'abc', token_type: 'mac' }],
    ['that is none', { token_type: 'Bearer' }],
  ])('%s is not used', async (_, body) => {
    await using server = await startProtectedServer({ token: () => ({ body }) });
    await using to = connectionTo(server);
    await expect(to.call()).rejects.toMatchObject({ kind: 'AUTHENTICATION_FAILED', reached: 'no' });
    expect(server.executed).toEqual([]);
  });

  it('may be one that somebody else vouches for', async () => {
    await using server = await startProtectedServer();
    await using to = connectionTo(server, {
      grant: jwtBearer(async ({ server: { issuer } }) => `vouched for at ${issuer}`),
      identity: { name: 'test', registered: { id: 'workload' } },
    });
    await to.call();
    expect(Object.fromEntries(server.tokenRequests[0]!.form)).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: `vouched for at ${server.issuer}`,
      client_id: 'workload',
      resource: server.url,
    });
  });
});

describe('A person who signs in', () => {
  const person = { grant: signIn(redirect), identity: { name: 'Patchbay' } };

  it('does so as a client that registers itself once', async () => {
    await using server = await startProtectedServer({ token: (_, earlier) => renewable(`t${earlier}`) });
    await using to = connectionTo(server, person);
    await to.call();
    await to.store.write({ ...(await to.store.read())!, token: undefined });
    await using again = connectionTo(server, { ...person, store: to.store });
    await again.call();
    expect(server.registered).toEqual([
      {
        client_name: 'Patchbay',
        redirect_uris: ['http://localhost/back'],
        grant_types: ['authorization_code', 'refresh_token'],
        application_type: 'native',
      },
    ]);
    expect(server.tokenRequests.map(({ form }) => form.get('client_id'))).toEqual(['client-1', 'client-1']);
  });

  it('is asked for the scopes that are missing besides those they gave, and not for the same ones again (attack 16)', async () => {
    const visited: (string | null)[] = [];
    const scopes = ['read', 'read', 'write', 'write'];
    await using server = await startProtectedServer({
      refuse: token => {
        const scope = scopes.shift();
        if (token === 'static') return { status: 401, challenge: `Bearer scope="${scope}"` };
        return scope === undefined || scope === 'read'
          ? undefined
          : { status: 403, challenge: `Bearer error="insufficient_scope", scope="${scope}"` };
      },
    });
    await using to = connectionTo(server, {
      ...person,
      grant: signIn({
        ...redirect,
        visit: address => {
          visited.push(address.searchParams.get('scope'));
          return redirect.visit(address);
        },
      }),
    });
    await to.call();
    await expect(to.call()).rejects.toMatchObject({
      kind: 'AUTHENTICATION_FAILED',
      reached: 'no',
      status: 403,
    });
    expect(visited).toEqual(['read', 'read write']);
    await to.call();
    expect(visited).toHaveLength(2);
  });

  it.each([
    ['of another sign-in', { state: 'other', code: 'c' }, 'belongs to another sign-in'],
    [
      'of another server',
      { iss: 'http://evil.test', error: 'access_denied', error_description: 'pay us' },
      'is not from',
    ],
    ['that says no', { error: 'access_denied', error_description: 'not today' }, 'access_denied: not today'],
    ['that says nothing', {}, 'no code came back'],
  ])('and comes back with an answer %s has not signed in (attack 9)', async (_, query, says) => {
    await using server = await startProtectedServer();
    const visit = async (address: URL) =>
      new URLSearchParams({ state: address.searchParams.get('state')!, ...query });
    await using to = connectionTo(server, { ...person, grant: signIn({ ...redirect, visit }) });
    const error = await to.call().catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ kind: 'AUTHENTICATION_FAILED', reached: 'no' });
    expect(String(error)).toContain(says);
    expect(String(error)).not.toContain('pay us');
    expect(server.tokenRequests).toEqual([]);
  });

  it.each([
    ['does not say that it protects codes', { code_challenge_methods_supported: undefined }],
    ['protects codes badly', { code_challenge_methods_supported: ['plain'] }],
    ['has a page that is not https', { authorization_endpoint: 'http://sign-in.test/' }],
    ['has a page that is a script', { authorization_endpoint: 'javascript:alert(1)' }],
    ['calls itself something else', { issuer: 'http://evil.test' }],
  ])('is not sent to an authorization server that %s (attack 6)', async (_, broken) => {
    await using server = await startProtectedServer({ metadata: own => ({ ...own, ...broken }) });
    const visit = vi.fn(redirect.visit);
    await using to = connectionTo(server, { ...person, grant: signIn({ ...redirect, visit }) });
    await expect(to.call()).rejects.toMatchObject({ kind: 'AUTHENTICATION_FAILED', reached: 'no' });
    expect(visit).not.toHaveBeenCalled();
  });
});

describe('Credentials of one authorization server', () => {
  it('go to no other that the server names later', async () => {
    await using first = await startProtectedServer();
    await using other = await startProtectedServer();
    let named = first.issuer;
    await using server = await startProtectedServer({
      resource: own => ({ ...own, authorization_servers: [named] }),
      refuse: token =>
        token !== undefined && first.valid.has(token) ? undefined : { status: 401, challenge: 'Bearer' },
    });
    await using to = connectionTo(server);
    await to.call();
    named = other.issuer;
    first.valid.clear();
    await expect(to.call()).rejects.toThrow('another authorization server');
    expect(other.tokenRequests).toEqual([]);
  });

  it('go to none but the one that is configured', async () => {
    await using server = await startProtectedServer();
    await using to = connectionTo(server, { issuer: 'https://sign-in.example' });
    await expect(to.call()).rejects.toThrow('another authorization server');
    expect(server.asked).toEqual([]);
  });

  it('are for this server only: metadata about another one is refused', async () => {
    await using server = await startProtectedServer({
      resource: own => ({ ...own, resource: 'https://elsewhere.example/mcp' }),
    });
    await using to = connectionTo(server);
    await expect(to.call()).rejects.toThrow('its metadata is about another server');
    expect(server.asked).toEqual([]);
  });
});

describe('An address that a server names (attack 33)', () => {
  const refusal = { kind: 'AUTHENTICATION_FAILED', reached: 'no' };

  it('of its metadata is not asked at a private place', async () => {
    await using inside = await startProtectedServer({ host: 'localhost' });
    await using server = await startProtectedServer({
      refuse: () => ({ status: 401, challenge: `Bearer resource_metadata="${inside.issuer}/secret"` }),
    });
    await using to = connectionTo(server);
    await expect(to.call()).rejects.toMatchObject(refusal);
    expect(inside.asked).toEqual([]);
  });

  it('of its authorization server is not asked at a private place, unless an operator named that host', async () => {
    await using server = await startProtectedServer({ host: 'localhost' });
    await using to = connectionTo(server);
    await expect(to.call()).rejects.toMatchObject(refusal);
    expect(server.asked).toEqual([]);
    await using named = connectionTo(server, { issuer: server.issuer });
    await named.call();
    expect(server.executed).toEqual(['Bearer token-1']);
  });

  it('of a token endpoint, a registration or keys is not asked at a private place', async () => {
    await using inside = await startProtectedServer({ host: 'localhost' });
    await using server = await startProtectedServer({
      metadata: own => ({
        ...own,
        token_endpoint: `${inside.issuer}/token`,
        registration_endpoint: `${inside.issuer}/register`,
        jwks_uri: `${inside.issuer}/keys`,
      }),
    });
    await using machine = connectionTo(server);
    await expect(machine.call()).rejects.toMatchObject(refusal);
    await using person = connectionTo(server, { grant: signIn(redirect), identity: { name: 'us' } });
    await expect(person.call()).rejects.toMatchObject(refusal);
    expect(inside.asked).toEqual([]);
  });

  it('is not asked at a private place at all for a server that no operator named', async () => {
    await using server = await startProtectedServer();
    await using to = connectionTo(server, { hostFrom: 'outside' });
    await expect(to.call()).rejects.toMatchObject(refusal);
    expect(server.asked).toEqual([]);
  });
});

describe('A company that signs its people in', () => {
  const company = (tokenEndpoint: string): Partial<OAuthCredentialOptions> => ({
    grant: enterpriseManaged({ tokenEndpoint, clientId: 'here', idToken: async () => 'who-it-is' }),
  });

  it('vouches for them at the authorization server, and is asked where an operator named it only (attack 33)', async () => {
    await using idp = await startProtectedServer({
      host: 'localhost',
      token: () => ({
        body: {
          access_token: 'the-grant',
          issued_token_type: 'urn:ietf:params:oauth:token-type:id-jag',
          token_type: 'N_A',
        },
      }),
    });
    await using server = await startProtectedServer();
    const endpoint = `${idp.issuer}/token`;
    await using unnamed = connectionTo(server, company(endpoint));
    await expect(unnamed.call()).rejects.toMatchObject({ kind: 'AUTHENTICATION_FAILED', reached: 'no' });
    expect(idp.asked).toEqual([]);

    await using to = connectionTo(server, { ...company(endpoint), operatorUrls: [endpoint] });
    await to.call();
    expect(Object.fromEntries(idp.tokenRequests[0]!.form)).toMatchObject({
      audience: server.issuer,
      resource: server.url,
      subject_token: 'who-it-is',
    });
    expect(server.tokenRequests[0]!.form.get('assertion')).toBe('the-grant');
    expect(server.executed).toEqual(['Bearer token-1']);
  });

  it('does not read the identity out to anybody when it refuses (A-183)', async () => {
    await using idp = await startProtectedServer({
      token: form => ({ status: 400, body: { odd: `no such ${form.get('subject_token')}` } }),
    });
    await using server = await startProtectedServer();
    await using to = connectionTo(server, company(`${idp.issuer}/token`));
    const error = await to.call().catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ kind: 'AUTHENTICATION_FAILED' });
    expect(String(error)).toContain('Token exchange failed');
    expect(String(error)).not.toContain('who-it-is');
  });
});

describe('Secrets of a sign-in', () => {
  it('reach no log and no error, also when the authorization server repeats them (A-183, attack 46)', async () => {
    const [secret, token] = [newCanary(), newCanary()];
    await using server = await startProtectedServer({
      token: (form, earlier) =>
        earlier === 0
          ? { body: { access_token: token.core, token_type: 'Bearer', refresh_token: token.value } }
          : {
              status: 400,
              body: {
                error: 'invalid_request',
                error_description: `${secret.value} ${[...form].join(' ')} ${token.value}`,
              },
            },
    });
    const printed = ['log', 'info', 'warn', 'error'].map(name =>
      vi.spyOn(console, name as 'log').mockImplementation(() => undefined),
    );
    const lines: string[] = [];
    const logger = createLogger({
      level: 'debug',
      format: 'json',
      destination: { write: line => lines.push(line) },
      clock: { now: () => 0 },
    });
    const credential = createOAuthCredential({
      url: server.url,
      hostFrom: 'operator',
      grant: clientCredentials,
      identity: { name: 'test', registered: { id: 'us', secret: secret.value } },
      store: createMemoryTokenStore(),
      fetch,
      clock: { now: () => 0 },
    });
    await using pool = testPool({ logger });
    const connection = pool.connection({
      endpoint: httpEndpoint(server.url),
      scope: 'test',
      connectTimeoutMs: 5_000,
      credential,
    });
    const call = { method: 'tools/call', params: { name: 'a' }, timeoutMs: 5_000 };
    await connection.request(call);
    server.valid.clear();
    const error = await connection.request(call).catch((thrown: Error) => thrown);
    logger.error('It failed', { error });
    expect(String(error)).toContain('invalid_request');
    for (const canary of [secret, token]) {
      const shown = { error, lines, printed: printed.flatMap(spy => spy.mock.calls) };
      expect(placesWith(canary, shown)).toEqual([]);
      expect(
        placesWith(canary, {
          sent: server.tokenRequests.map(({ form }) => `${form}`),
          executed: server.executed,
        }),
      ).toHaveLength(canary === token ? 2 : 0);
    }
    expect(
      Buffer.from(server.tokenRequests[0]!.authorization!.split(' ')[1]!, 'base64').toString('latin1'),
    ).toBe(`us:${secret.value}`);
  });
});
