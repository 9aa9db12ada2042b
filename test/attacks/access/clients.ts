import { expect } from 'vitest';
import { CALLBACK, clientOf, codeFor, newClient, post, signedIn } from '../../authorization/rig.ts';
import { type Attack, DOCUMENTS, type World } from './world.ts';

type Parameters = Readonly<Record<string, string | undefined>>;

/** A browser that is sent with something else than a client of ours would send. It is led to no other place than the client's. */
function sent(name: string, reason: string, parameters: (world: World) => Parameters, more = ''): Attack {
  return {
    ...{ name, refused: `oauth: ${reason}` },
    plan: world => async () => {
      const { location } = await world.browser.get(world.client.authorizeUrl(parameters(world)) + more);
      expect(location?.href.split('?')[0]).toBe(CALLBACK);
      expect(location?.searchParams.get('error')).toEqual(expect.any(String));
      expect(['code', 'access_token', 'id_token'].filter(one => location?.searchParams.has(one))).toEqual([]);
      expect(location?.hash).toBe('');
    },
  };
}

/** A browser that would be led to an address that was not registered: it is led nowhere. */
function led(to: string, what: string, number: 6 | 7 = 6): Attack {
  return {
    ...{ name: `${what} as the address to come back to (attack ${number})` },
    refused: 'oauth: redirect-uri-not-registered',
    plan: world => async () => {
      const page = await world.browser.get(world.client.authorizeUrl({ redirect_uri: to }));
      expect([page.status, page.location]).toEqual([400, undefined]);
    },
  };
}

/** Somebody who registers a client that nobody may have. */
function registered(name: string, body: object | string, reason = 'invalid-client-metadata'): Attack {
  return {
    ...{ name, refused: `oauth: ${reason}` },
    plan:
      ({ platform }) =>
      async () => {
        const response = await fetch(`${platform.url}/oauth/register`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: typeof body === 'string' ? body : JSON.stringify({ redirect_uris: [CALLBACK], ...body }),
        });
        expect([response.status, (await response.json()) as object]).toEqual([
          400,
          expect.not.objectContaining({ client_id: expect.anything() }),
        ]);
      },
  };
}

const withAddress = (name: string, ...redirect_uris: string[]) =>
  registered(name, { redirect_uris }, 'invalid-redirect-uri');

/** A client that is described where it says, by a document that nobody may have. */
function documented(name: string, reason: string, file: string, answer: (url: string) => Response): Attack {
  return {
    ...{ name, refused: `oauth: ${reason}` },
    plan: ({ browser, documents, platform }) => {
      const url = DOCUMENTS + file;
      documents.set(url, () => answer(url));
      return async () => {
        const page = await browser.get(clientOf(platform.url, url).authorizeUrl());
        expect([page.status, page.location]).toEqual([400, undefined]);
      };
    },
  };
}

const describing = (client_id: string, members: object = {}) =>
  Response.json({ client_id, client_name: 'Documented', redirect_uris: [CALLBACK], ...members });

/** A client asks about a token that another one was given, or takes it back. */
function about(endpoint: 'introspect' | 'revoke', kind: 'access_token' | 'refresh_token'): Attack {
  return {
    name: `another one that would ${endpoint} its ${kind} (our own)`,
    refused: 'oauth: other-client',
    plan: async ({ browser, client, platform }) => {
      const { body } = await client.redeem(await codeFor(browser, client.authorizeUrl()));
      const other = await newClient(platform);
      return async () => {
        const answer = await post(`${platform.url}/oauth/${endpoint}`, {
          ...{ client_id: other.id, token: body[kind] as string },
        });
        expect(answer.body).not.toHaveProperty('sub');
        expect(answer.body.active ?? false).toBe(false);
        const still = await post(`${platform.url}/oauth/introspect`, {
          ...{ client_id: client.id, token: body[kind] as string },
        });
        expect(still.body.active).toBe(true);
      };
    },
  };
}

export const CLIENT_ATTACKS: readonly Attack[] = [
  sent('without PKCE (attack 5)', 'no-pkce', () => ({
    ...{ code_challenge: undefined, code_challenge_method: undefined },
  })),
  sent('with PKCE of the method plain (attack 5)', 'no-pkce', () => ({ code_challenge_method: 'plain' })),
  sent('that wants the answer in the fragment (our own)', 'unsupported-response-mode', () => ({
    response_mode: 'fragment',
  })),
  sent('that wants the answer as a form (our own)', 'unsupported-response-mode', () => ({
    response_mode: 'form_post',
  })),
  sent('with a request object that is not signed (our own)', 'request-not-supported', () => ({
    request: 'eyJhbGciOiJub25lIn0.e30.',
  })),
  sent('with a request object to be fetched (our own)', 'request-uri-not-supported', () => ({
    request_uri: 'http://169.254.169.254/request',
  })),
  sent('that wants nobody to be asked: prompt=none (attack 7)', 'consent-required', ({ owner }) => ({
    ...{ prompt: 'none', id_token_hint: 'eyJhbGciOiJub25lIn0.e30.', login_hint: owner, claims: '{}' },
  })),
  sent('for a door of somebody else (attack 1)', 'invalid-target', () => ({
    resource: 'https://elsewhere.example/mcp',
  })),
  {
    name: 'for two doors at once (our own)',
    refused: 'oauth: invalid-target',
    plan: ({ browser, client, platform }) => {
      const url = `${client.authorizeUrl()}&resource=${platform.operatorUrl}&resource=${platform.agentUrl('demo')}`;
      return async () =>
        expect((await browser.get(url)).location?.searchParams.get('error')).toBe('invalid_target');
    },
  },
  sent('with a parameter that stands there twice (our own)', 'invalid-request', () => ({}), '&state=another'),
  {
    name: 'that wants a token at once: response_type=token (our own)',
    refused: 'oauth: unsupported-response-type',
    plan:
      ({ browser, client }) =>
      async () => {
        const { location } = await browser.get(client.authorizeUrl({ response_type: 'token' }));
        expect(location?.href).toMatch(/[?#&]error=unsupported_response_type&/);
        expect(location?.href).not.toMatch(/[?#&](?:code|access_token|id_token)=/);
      },
  },
  led(`${CALLBACK}/more`, 'a longer path'),
  led(`${CALLBACK}/../other`, 'a path with ..'),
  led(`${CALLBACK}?x=1`, 'another query'),
  led(`${CALLBACK}#x`, 'a fragment'),
  led('http://127.0.0.1.evil.test:33418/callback', 'a longer host'),
  led('http://127.0.0.1:33418@evil.test/callback', 'user information'),
  led('http://127.0.0.1:33418\\@evil.test/callback', 'a backslash'),
  led('//127.0.0.1:33418/callback', 'no scheme'),
  led('http://localhost:33418/callback', 'another name of this machine'),
  led('http://127。0。0。1:33418/callback', 'dots of another script'),
  led('javascript:alert(1)//127.0.0.1:33418/callback', 'javascript:'),
  led('data:text/html,x', 'data:'),
  led('https://evil.example/steal', 'the address of somebody who knows the client'),
  {
    name: 'that nobody has registered (our own)',
    refused: 'oauth: unknown-client',
    plan:
      ({ browser, platform }) =>
      async () => {
        const page = await browser.get(clientOf(platform.url, 'client_none').authorizeUrl());
        expect([page.status, page.location]).toEqual([400, undefined]);
      },
  },
  {
    name: 'that is gone by now, with a code it was given (our own)',
    refused: 'oauth: unknown-client',
    plan: async ({ browser, platform }) => {
      const gone = await newClient(platform);
      const code = await codeFor(browser, gone.authorizeUrl());
      await platform.platform.store.commit(async db => {
        await db.deleteFrom('authorization_records').where('id', '=', gone.id).execute();
      });
      return async () => expect((await gone.redeem(code)).body.access_token).toBeUndefined();
    },
  },
  {
    name: 'with a sign-in that was begun in another browser (attack 9)',
    refused: 'oauth: other-browser',
    plan: async ({ browser, client, platform, mallory }) => {
      const goesOn = (await browser.get(client.authorizeUrl())).location!.searchParams.get('return_to')!;
      const other = await signedIn(platform, mallory.id);
      return async () => {
        const page = await other.get(goesOn);
        expect([page.status, page.location]).toEqual([400, undefined]);
      };
    },
  },
  {
    name: 'without a secret that says it has one (our own)',
    refused: 'oauth: other-client-authentication',
    plan: async ({ browser, client, platform }) => {
      const code = await codeFor(browser, client.authorizeUrl());
      return async () => {
        const parameters = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK };
        const authorization = `Basic ${Buffer.from(`${client.id}:secret`).toString('base64')}`;
        const { body } = await post(`${platform.url}/oauth/token`, parameters, { authorization });
        expect(body.access_token).toBeUndefined();
      };
    },
  },
  about('introspect', 'access_token'),
  about('introspect', 'refresh_token'),
  about('revoke', 'access_token'),
  about('revoke', 'refresh_token'),
  {
    name: 'that asks about a token of nobody (our own)',
    refused: 'oauth: bad-token',
    plan:
      ({ client, platform }) =>
      async () => {
        const token = 'eyJhbGciOiJub25lIn0.e30.';
        const { body } = await post(`${platform.url}/oauth/introspect`, { client_id: client.id, token });
        expect(body).toEqual({ active: false });
      },
  },
  withAddress('registered for javascript: (attack 6)', 'javascript:alert(1)'),
  withAddress('registered for data: (attack 6)', 'data:text/html,x'),
  withAddress('registered with user information (attack 6)', 'https://user@editor.example/cb'),
  withAddress('registered with a fragment (attack 6)', 'https://editor.example/cb#x'),
  withAddress('registered for a host that looks like another one (attack 6)', 'https://еditor.example/cb'),
  withAddress('registered for plain http elsewhere (attack 6)', 'http://editor.example/cb'),
  withAddress('registered for a machine inside (attack 12)', 'http://169.254.169.254/cb'),
  withAddress(
    'registered for eleven addresses (attack 12)',
    ...Array.from({ length: 11 }, (_, at) => `http://127.0.0.1:${at + 1}/`),
  ),
  registered('registered with a name that is written backwards (attack 12)', {
    client_name: '\u202Eyabhctap',
  }),
  registered('registered with a name that hides letters (attack 12)', { client_name: 'Patch\u200Bbay' }),
  registered('registered with more than 8 KiB (attack 12)', { padding: 'a'.repeat(9_000) }),
  registered('registered as a list (attack 27)', '[]'),
  registered(
    'registered with a name that stands there twice (attack 27)',
    '{"client_name":"a","client_name":"b"}',
  ),
  registered('registered in lists without end (attack 27)', '['.repeat(4_000)),
  documented('described by a document that leads elsewhere (attack 13)', 'invalid-client', 'redirect', () =>
    Response.redirect('http://169.254.169.254/client.json'),
  ),
  documented(
    'described by a document of another client (attack 13)',
    'invalid-client-metadata',
    'other',
    () => describing(`${DOCUMENTS}another`),
  ),
  documented('described as one that has a secret (our own)', 'invalid-client', 'secret', url =>
    describing(url, { token_endpoint_auth_method: 'client_secret_basic' }),
  ),
  documented('described for javascript: (attack 13)', 'invalid-client', 'javascript', url =>
    describing(url, { redirect_uris: ['javascript:alert(1)'] }),
  ),
];
