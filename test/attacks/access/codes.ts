import { expect } from 'vitest';
import { hiddenFields } from '../../authorization/browser.ts';
import {
  CALLBACK,
  codeFor,
  consentPage,
  decide,
  newClient,
  post,
  signedIn,
  type TokenAnswer,
} from '../../authorization/rig.ts';
import type { Attack, World } from './world.ts';

type Parameters = Readonly<Record<string, string | undefined>>;

/** A code that the owner has just given the client, redeemed otherwise than it may be. */
function redeemed(name: string, reason: string, parameters: Parameters): Attack {
  return {
    ...{ name, refused: `oauth: ${reason}` },
    plan: async ({ browser, client }) => {
      const code = await codeFor(browser, client.authorizeUrl());
      return () => expectNothing(client.redeem(code, parameters));
    },
  };
}

/** A refresh token of the client. */
function refreshed(
  name: string,
  reason: string,
  how: (world: World, token: string) => Promise<TokenAnswer>,
): Attack {
  return {
    ...{ name, refused: `oauth: ${reason}` },
    plan: async world => {
      const token = (await tokensOf(world)).refresh_token!;
      return () => expectNothing(how(world, token));
    },
  };
}

async function tokensOf({ browser, client }: World): Promise<TokenAnswer['body']> {
  const { status, body } = await client.redeem(await codeFor(browser, client.authorizeUrl()));
  expect(status).toBe(200);
  return body;
}

async function expectNothing(answer: Promise<TokenAnswer>): Promise<void> {
  const { status, body } = await answer;
  expect([400, 401]).toContain(status);
  expect(body.error).toEqual(expect.any(String));
  expect([body.access_token, body.refresh_token, body.id_token]).toEqual([undefined, undefined, undefined]);
}

/** A request of a grant that is not served. */
function granted(grant_type: string, more: Parameters = {}): Attack {
  return {
    ...{ name: `the grant ${grant_type} (our own)`, refused: 'oauth: unsupported-grant-type' },
    plan: world => () =>
      expectNothing(
        post(`${world.platform.url}/oauth/token`, {
          ...{ grant_type, client_id: world.client.id, scope: 'openid operator', ...more },
        }),
      ),
  };
}

/** The page on which the owner is asked, and a form of it that was not sent as it is. */
function consented(
  name: string,
  refused: string,
  fields: Readonly<Record<string, string | readonly string[]>>,
  headers: Readonly<Record<string, string>> = {},
): Attack {
  return {
    ...{ name, refused },
    plan: async ({ browser, client }) => {
      const page = await consentPage(browser, client.authorizeUrl());
      const form = { ...hiddenFields(page), decision: 'allow', agent: 'demo', ...fields };
      return async () => {
        expect((await browser.post(page.url, form, headers)).location).toBeUndefined();
      };
    },
  };
}

export const CODE_ATTACKS: readonly Attack[] = [
  redeemed('with the verifier of another request (attack 5)', 'wrong-verifier', {
    code_verifier: 'a'.repeat(43),
  }),
  redeemed('without a verifier (attack 5)', 'wrong-verifier', { code_verifier: undefined }),
  redeemed('for another address to come back to (attack 6)', 'other-redirect-uri', {
    redirect_uri: `${CALLBACK}2`,
  }),
  redeemed('without an address to come back to (attack 6)', 'missing-parameter', { redirect_uri: undefined }),
  redeemed('for another door than was consented (our own)', 'invalid-target', {
    resource: 'http://127.0.0.1:1/mcp',
  }),
  {
    name: 'that was made up (attack 5)',
    refused: 'oauth: unknown-code',
    plan:
      ({ client }) =>
      () =>
        expectNothing(client.redeem('a'.repeat(43))),
  },
  {
    name: 'that was used already: what it gave is taken back (attack 5)',
    refused: 'oauth: code-used-again',
    plan: async ({ browser, client }) => {
      const code = await codeFor(browser, client.authorizeUrl());
      const { body } = await client.redeem(code);
      return async () => {
        await expectNothing(client.redeem(code));
        await expectNothing(client.refresh(body.refresh_token!));
      };
    },
  },
  {
    name: 'of another client, with its verifier (attack 5)',
    refused: 'oauth: other-client',
    plan: async world => {
      const code = await codeFor(world.browser, world.client.authorizeUrl());
      const other = await newClient(world.platform);
      return () => expectNothing(other.redeem(code, { code_verifier: world.client.verifier }));
    },
  },
  {
    name: 'of a person who was disabled meanwhile (our own)',
    refused: 'oauth: grant-revoked',
    plan: async world => {
      const { userId } = await world.platform.addPerson(['patchbay-admin']);
      const theirs = await signedIn(world.platform, userId);
      const { platform, client } = world;
      const code = await codeFor(theirs, client.authorizeUrl({ resource: platform.operatorUrl }), []);
      await platform.platform.users.disable(userId);
      return () => expectNothing(client.redeem(code));
    },
  },
  {
    name: 'in JSON instead of a form (our own)',
    refused: 'oauth: not-a-form',
    plan: async ({ browser, client, platform }) => {
      const code = await codeFor(browser, client.authorizeUrl());
      return async () => {
        const response = await fetch(`${platform.url}/oauth/token`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ grant_type: 'authorization_code', code, client_id: client.id }),
        });
        expect(response.status).toBe(400);
      };
    },
  },
  granted('password', { username: 'owner', password: 'x' }),
  granted('client_credentials'),
  granted('urn:ietf:params:oauth:grant-type:device_code', { device_code: 'x' }),
  granted('urn:ietf:params:oauth:grant-type:jwt-bearer', { assertion: 'eyJhbGciOiJub25lIn0.e30.' }),
  granted('urn:ietf:params:oauth:grant-type:token-exchange', { subject_token: 'x' }),
  {
    name: 'a refresh token of another client (attack 10)',
    refused: 'oauth: other-client',
    plan: async world => {
      const token = (await tokensOf(world)).refresh_token!;
      const other = await newClient(world.platform);
      return () => expectNothing(other.refresh(token));
    },
  },
  refreshed('a refresh token, for another scope (our own)', 'invalid-scope', ({ client }, token) =>
    client.refresh(token, { scope: 'operator' }),
  ),
  refreshed(
    'a refresh token, for the operator door (our own)',
    'invalid-target',
    ({ client, platform }, token) => client.refresh(token, { resource: platform.operatorUrl }),
  ),
  {
    name: 'a refresh token that was made up (attack 10)',
    refused: 'oauth: unknown-refresh-token',
    plan:
      ({ client }) =>
      () =>
        expectNothing(client.refresh('a'.repeat(43))),
  },
  {
    name: 'a refresh token that was taken back (attack 14)',
    refused: 'oauth: grant-revoked',
    plan: async world => {
      const { access_token: token, refresh_token } = await tokensOf(world);
      const { client, platform } = world;
      await post(`${platform.url}/oauth/revoke`, { client_id: client.id, token: token as string });
      return () => expectNothing(client.refresh(refresh_token!));
    },
  },
  consented('on the page that asks, without its CSRF token (attack 8)', 'page: bad-csrf', { csrf: '' }),
  consented('on the page that asks, with one that was made up (attack 8)', 'page: bad-csrf', {
    csrf: 'A'.repeat(43),
  }),
  consented('on the page that asks, without the proof of the request (attack 8)', 'page: bad-csrf', {
    proof: '',
  }),
  consented(
    'on the page that asks, from another site (attack 8)',
    'any: foreign-origin',
    {},
    {
      origin: 'https://evil.example',
    },
  ),
  consented('on the page that asks, for an agent that was not offered (our own)', 'page: no-agent', {
    agent: ['demo', 'hidden'],
  }),
  {
    name: 'on the page that asks, by another person who was sent there (attack 7)',
    refused: 'page: other-browser',
    plan: async world => {
      const sent = await world.browser.get(world.client.authorizeUrl());
      const other = await signedIn(world.platform, world.mallory.id);
      return async () => {
        const page = await other.get(sent.location!.href);
        expect([page.status, page.location]).toEqual([410, undefined]);
      };
    },
  },
  {
    name: 'on the page that asks, by whoever is signed in in that browser by now (attack 8)',
    refused: 'page: bad-csrf',
    plan: async ({ browser, client, platform, mallory }) => {
      const page = await consentPage(browser, client.authorizeUrl());
      const other = await signedIn(platform, mallory.id);
      const cookies = new Map(
        `${browser.cookiesFor('/mcp-login')}; ${other.cookiesFor('/')}`
          .split('; ')
          .map(pair => pair.split('=') as [string, string]),
      );
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const { proof = '' } = hiddenFields(page);
      const shown = await (await fetch(page.url, { headers: { cookie } })).text();
      const csrf = /name="csrf" value="([\w-]+)"/.exec(shown)![1]!;
      return async () => {
        const answer = await fetch(page.url, {
          ...{ method: 'POST', redirect: 'manual' },
          headers: { cookie, origin: platform.url },
          body: new URLSearchParams({ csrf, proof, decision: 'allow', agent: 'demo' }),
        });
        expect(answer.headers.get('location')).toBeNull();
      };
    },
  },
  {
    name: 'on the page that asks, sent again after all is over (attack 8)',
    refused: 'page: other-browser',
    plan: async ({ browser, client }) => {
      const page = await consentPage(browser, client.authorizeUrl());
      const form = { ...hiddenFields(page), decision: 'allow', agent: 'demo' };
      await browser.follow(await browser.post(page.url, form));
      return async () => expect((await browser.post(page.url, form)).status).toBe(410);
    },
  },
  {
    name: 'after the person has said no (our own)',
    refused: 'oauth: access-denied',
    plan: async ({ browser, client }) => {
      const page = await consentPage(browser, client.authorizeUrl());
      return async () => {
        const { location } = await decide(browser, page, 'deny');
        expect(location?.searchParams.get('code')).toBeNull();
        await browser.get(page.url);
      };
    },
  },
];
