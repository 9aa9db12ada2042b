import { createHash } from 'node:crypto';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listAuditEvents } from '../../packages/server/src/store/tables/audit-events.ts';
import type { Browser } from './browser.ts';
import { basic, clientOf, codeFor, post, proofOf, type RegisteredClient, register, signedIn } from './rig.ts';

let platform: TestPlatform;
let browser: Browser;
beforeAll(async () => {
  platform = await startTestPlatform();
  browser = await signedIn(platform);
});
afterAll(() => platform?.close());

type Proof = ReturnType<typeof proofOf>;
const SECRET_METHODS = ['client_secret_post', 'client_secret_basic'];

async function registered(method: string | undefined): Promise<RegisteredClient & Record<string, unknown>> {
  const answer = await register(platform.url, { token_endpoint_auth_method: method });
  expect(answer.status).toBe(201);
  expect(answer.headers.get('cache-control')).toContain('no-store');
  return (await answer.json()) as RegisteredClient & Record<string, unknown>;
}

const ask = (endpoint: 'revoke' | 'introspect', token: string, [form, headers]: Proof) =>
  post(`${platform.url}/oauth/${endpoint}`, { token, ...form }, headers);

const isActive = async (token: string, proof: Proof) => (await ask('introspect', token, proof)).body.active;

/** Client and reason of what was refused. */
async function refusals(): Promise<unknown[]> {
  const events = await listAuditEvents(platform.platform.store.db, { limit: 1_000 });
  return events
    .filter(({ operation }) => operation === 'access_refused')
    .map(({ subject }) => {
      const { clientId, reason } = JSON.parse(subject) as Record<string, unknown>;
      return `${clientId}: ${reason}`;
    });
}

describe('the answer to a registration (B-25)', () => {
  it.each(SECRET_METHODS)('has a secret of its own where it names %s', async method => {
    const one = await registered(method);
    const two = await registered(method);
    for (const client of [one, two])
      expect(client).toMatchObject({
        token_endpoint_auth_method: method,
        client_secret: expect.stringMatching(/^[\w-]{43}$/),
        client_secret_expires_at: 0,
      });
    expect(one.client_secret).not.toBe(two.client_secret);
  });

  it.each(['none', undefined, '', 'private_key_jwt', 'client_secret_jwt', 'tls_client_auth', 'x'])(
    'has none where it names %s',
    async method => {
      const client = await registered(method);
      expect(client.token_endpoint_auth_method).toBe('none');
      for (const member of ['client_secret', 'client_secret_expires_at'])
        expect(client).not.toHaveProperty(member);
    },
  );

  it('has a secret of ours, whatever secret it brings', async () => {
    const description = { token_endpoint_auth_method: 'client_secret_post', client_secret: 'its own' };
    const client = (await (await register(platform.url, description)).json()) as RegisteredClient;
    expect(client.client_secret).toMatch(/^[\w-]{43}$/);
  });
});

describe('a public client', () => {
  it('that sends an empty secret sends none', async () => {
    const described = await registered('none');
    const client = clientOf(platform.url, described.client_id);
    const code = await codeFor(browser, client.authorizeUrl());
    const { status, body } = await client.redeem(code, { client_secret: '' });
    expect(status).toBe(200);
    const proof = inForm(described.client_id, '');
    for (const token of [body.access_token!, body.refresh_token!])
      expect(await isActive(token, proof)).toBe(true);
  });
});

describe.each(['none', ...SECRET_METHODS])('a client that registered with %s', method => {
  it('signs its person in, renews, asks about its tokens and ends them (B-31, B-34)', async () => {
    for (const ended of ['access_token', 'refresh_token'] as const) {
      const described = await registered(method);
      const client = clientOf(platform.url, described.client_id);
      const proof = proofOf(described);
      const first = await client.redeem(await codeFor(browser, client.authorizeUrl()), ...proof);
      expect([first.status, first.body.error]).toEqual([200, undefined]);
      const { status, body } = await client.refresh(first.body.refresh_token!, ...proof);
      expect(status).toBe(200);
      for (const token of [body.access_token!, body.refresh_token!])
        expect(await isActive(token, proof)).toBe(true);
      expect((await ask('revoke', body[ended]!, proof)).status).toBe(200);
      for (const token of [body.access_token!, body.refresh_token!])
        expect(await isActive(token, proof)).toBe(false);
    }
  });

  it('needs PKCE all the same (attack 5)', async () => {
    const client = clientOf(platform.url, (await registered(method)).client_id);
    const without = { code_challenge: undefined, code_challenge_method: undefined };
    const { location } = await browser.get(client.authorizeUrl(without));
    expect(location?.searchParams.get('error')).toBe('invalid_request');
  });

  it('learns nothing of tokens of others, and ends none', async () => {
    const [described, other] = [await registered(method), await registered('client_secret_basic')];
    const client = clientOf(platform.url, described.client_id);
    const proof = proofOf(described);
    const { body } = await client.redeem(await codeFor(browser, client.authorizeUrl()), ...proof);
    for (const token of [body.access_token!, body.refresh_token!]) {
      expect(await isActive(token, proofOf(other))).toBe(false);
      expect((await ask('revoke', token, proofOf(other))).status).toBe(200);
      expect(await isActive(token, proof)).toBe(true);
    }
    const stolen = await client.refresh(body.refresh_token!, ...proofOf(other));
    expect([stolen.status, stolen.body.error]).toEqual([400, 'invalid_grant']);
    await expect.poll(refusals, { timeout: 2_000 }).toContain(`${other.client_id}: other-client`);
  });
});

/** What somebody says who is not that client, or says too much. */
interface Claim {
  readonly what: string;
  readonly reason: string;
  readonly claim: (client: RegisteredClient, other: RegisteredClient) => Proof;
  readonly answer?: readonly [number, string];
}
const inForm = (id: string, secret: string | undefined): Proof => [
  { client_id: id, client_secret: secret },
  {},
];
const inHeader = (id: string, secret: string): Proof => [
  { client_id: undefined },
  { authorization: basic(id, secret) },
];
const hashOf = (secret = '') => createHash('sha256').update(secret).digest('hex');

const WITH_SECRET: readonly Claim[] = [
  {
    what: 'no secret',
    reason: 'other-client-authentication',
    claim: ({ client_id }) => inForm(client_id, undefined),
  },
  {
    what: 'an empty secret',
    reason: 'other-client-authentication',
    claim: ({ client_id }) => inForm(client_id, ''),
  },
  {
    what: 'a wrong secret in the form',
    reason: 'wrong-client-secret',
    claim: ({ client_id, client_secret }) => inForm(client_id, `${client_secret!.slice(0, -2)}AA`),
  },
  {
    what: 'a wrong secret in the header',
    reason: 'wrong-client-secret',
    claim: ({ client_id, client_secret }) => inHeader(client_id, `${client_secret}A`),
  },
  {
    what: 'the secret of another client',
    reason: 'wrong-client-secret',
    claim: ({ client_id }, other) => inForm(client_id, other.client_secret),
  },
  {
    what: 'the hash that is kept',
    reason: 'wrong-client-secret',
    claim: ({ client_id, client_secret }) => inForm(client_id, hashOf(client_secret)),
  },
  {
    what: 'its secret twice over',
    reason: 'two-client-authentications',
    claim: ({ client_id, client_secret }) => [
      { client_id, client_secret },
      { authorization: basic(client_id, client_secret!) },
    ],
    answer: [400, 'invalid_request'],
  },
];
const PUBLIC: readonly Claim[] = [
  {
    what: 'a secret in the form',
    reason: 'other-client-authentication',
    claim: ({ client_id }, other) => inForm(client_id, other.client_secret),
  },
  {
    what: 'a secret in the header',
    reason: 'other-client-authentication',
    claim: ({ client_id }, other) => inHeader(client_id, other.client_secret!),
  },
];
const ROWS = [
  ...SECRET_METHODS.flatMap(method => WITH_SECRET.map(claim => ({ method, ...claim }))),
  ...PUBLIC.map(claim => ({ method: 'none', ...claim })),
];

describe('somebody who says they are a client', () => {
  let other: RegisteredClient;
  beforeAll(async () => {
    other = await registered('client_secret_post');
  });

  it.each(ROWS)('of $method with $what is refused everywhere', async row => {
    const { answer = [401, 'invalid_client'], reason } = row;
    const described = await registered(row.method);
    const client = clientOf(platform.url, described.client_id);
    const proof = proofOf(described);
    const claim = row.claim(described, other);

    const code = await codeFor(browser, client.authorizeUrl());
    const refused = [await client.redeem(code, ...claim)];
    // Nobody but the client has used it up.
    const { status, body } = await client.redeem(code, ...proof);
    expect(status).toBe(200);
    refused.push(await client.refresh(body.refresh_token!, ...claim));
    for (const token of [body.access_token!, body.refresh_token!])
      refused.push(await ask('introspect', token, claim), await ask('revoke', token, claim));
    expect(refused.map(each => [each.status, each.body.error])).toEqual(refused.map(() => answer));
    for (const token of [body.access_token!, body.refresh_token!])
      expect(await isActive(token, proof)).toBe(true);
    const said = reason === 'two-client-authentications' ? undefined : described.client_id;
    await expect.poll(refusals, { timeout: 2_000 }).toContain(`${said}: ${reason}`);
  });
});
