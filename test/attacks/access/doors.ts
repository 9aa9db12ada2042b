import { request } from 'node:http';
import { expect } from 'vitest';
import { callTool, type WireOptions } from '../../doors/wire.ts';
import { type Attack, CALLS_A_MINUTE, expectShut, nobody, type World } from './world.ts';

const PING = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
const HELLO = JSON.stringify({
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
});

/** A request whose headers are sent as they are, one that stands there twice, too. */
function raw(
  url: string,
  headers: Readonly<Record<string, string | readonly string[]>>,
): Promise<{ readonly status: number }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ readonly status: number }>();
  const sent = request(url, { method: 'POST' }, response => {
    response.resume();
    resolve({ status: response.statusCode! });
  }).on('error', reject);
  sent.setHeader('content-type', 'application/json');
  for (const [name, value] of Object.entries(headers))
    sent.setHeader(name, typeof value === 'string' ? value : [...value]);
  sent.end(PING);
  return promise;
}

/** The agent door, with a good token or without, and something beside it. */
function beside(
  name: string,
  reason: string,
  how: (world: World, token: string) => WireOptions,
  where: (url: string, token: string) => string = url => url,
): Attack {
  return {
    ...{ name, refused: `agent: ${reason}` },
    plan: async world => {
      const token = await world.kit.agentToken(world.grant);
      const url = where(world.platform.agentUrl('demo'), token);
      const { key, headers } = how(world, token);
      return () =>
        expectShut(raw(url, { ...(key !== undefined && { authorization: `Bearer ${key}` }), ...headers }));
    },
  };
}

async function sessionOf(url: string, key: string): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: HELLO,
  });
  await response.text();
  return response.headers.get('mcp-session-id')!;
}

/** Somebody with a good key sends the id of a session. */
function withSession(
  name: string,
  refused: string,
  idOf: (world: World) => Promise<string>,
  door: 'agent' | 'operator' = 'agent',
): Attack {
  return {
    ...{ name, refused },
    plan: async world => {
      const id = await idOf(world);
      const { operatorKey } = world.platform;
      const options = { key: operatorKey, headers: { 'mcp-session-id': id } };
      return async () => {
        const answer = await (door === 'agent' ? world.agent('demo', options) : world.operator(options));
        expect(answer.status).toBe(404);
        // There is no stream to resume and no session to end: an id opens nothing by another method either.
        const { url, operatorUrl, agentUrl } = world.platform;
        const address = door === 'agent' ? agentUrl('demo') : operatorUrl;
        const headers = { ...options.headers, authorization: `Bearer ${operatorKey}`, 'last-event-id': '1' };
        for (const method of ['GET', 'DELETE'])
          expect((await fetch(address, { method, headers: { ...headers, origin: url } })).status).toBe(405);
      };
    },
  };
}

export const DOOR_ATTACKS: readonly Attack[] = [
  beside('a token and a key in one request (attack 4)', 'bad-credential', ({ platform }, key) => ({
    ...{ key, headers: { 'x-agent-api-key': platform.agentKey } },
  })),
  beside(
    'a token in the query (attack 4)',
    'bad-credential',
    () => ({}),
    (url, token) => `${url}?access_token=${token}`,
  ),
  beside(
    'a token in the query beside a good one (attack 4)',
    'bad-credential',
    (_, key) => ({ key }),
    (url, token) => `${url}?ACCESS_TOKEN=${token}`,
  ),
  beside('a token in a cookie (our own)', 'no-credential', (_, token) => ({
    headers: { cookie: `access_token=${token}; Authorization=Bearer ${token}` },
  })),
  beside('a token in a header that is none of ours (our own)', 'no-credential', (_, token) => ({
    headers: { 'proxy-authorization': `Bearer ${token}`, 'x-authorization': `Bearer ${token}` },
  })),
  beside('a token in the header of agent keys (our own)', 'bad-credential', (_, token) => ({
    headers: { 'x-agent-api-key': token },
  })),
  beside('the key of a person in the header of agent keys (our own)', 'bad-credential', ({ platform }) => ({
    headers: { 'x-agent-api-key': platform.operatorKey },
  })),
  beside('a token as a password of Basic (our own)', 'bad-credential', (_, token) => ({
    headers: { authorization: `Basic ${Buffer.from(`owner:${token}`).toString('base64')}` },
  })),
  beside('two tokens in one header (attack 4)', 'bad-credential', (_, token) => ({
    headers: { authorization: `Bearer ${token}, Bearer ${token}` },
  })),
  {
    name: 'two headers with a credential, the first one good (attack 4)',
    refused: 'agent: bad-credential',
    plan: async world => {
      const token = await world.kit.agentToken(world.grant);
      const authorization = [`Bearer ${token}`, `Bearer ${world.platform.operatorKey}`];
      return () => expectShut(raw(world.platform.agentUrl('demo'), { authorization }));
    },
  },
  {
    name: 'a token in a form (attack 4)',
    refused: 'agent: no-credential',
    plan: async world => {
      const body = new URLSearchParams({ access_token: await world.kit.agentToken(world.grant) });
      return () => expectShut(fetch(world.platform.agentUrl('demo'), { method: 'POST', body }));
    },
  },
  {
    name: 'the cookie of a page, at the operator door (our own)',
    refused: 'operator: no-credential',
    plan: world => () =>
      expectShut(raw(world.platform.operatorUrl, { cookie: world.browser.cookiesFor('/') })),
  },
  {
    name: 'the cookie of a page, at REST (our own)',
    refused: 'rest: no-credential',
    plan: world => () =>
      expectShut(world.rest({ cookie: world.browser.cookiesFor('/') }, '/api/v1/api-keys')),
  },
  {
    name: 'nothing, for what is measured (our own)',
    refused: 'rest: no-credential',
    plan: world => () => expectShut(world.rest({}, '/metrics')),
  },
  {
    name: 'the token of the command line, from a page (our own)',
    refused: 'rest: bad-credential',
    plan: world => {
      const { ownerToken, url } = world.platform;
      return () => expectShut(world.rest({ authorization: `Bearer ${ownerToken}`, origin: url }));
    },
  },
  {
    name: 'the token of the command line, through a proxy (our own)',
    refused: 'operator: bad-credential',
    plan: world => () =>
      expectShut(
        world.operator({ key: world.platform.ownerToken, headers: { 'x-forwarded-for': '203.0.113.7' } }),
      ),
  },
  {
    name: 'the token of the command line, at the agent door (our own)',
    refused: 'agent: bad-credential',
    plan: world => () => expectShut(world.agent('demo', { key: world.platform.ownerToken })),
  },
  {
    name: 'a good key, from a page of somebody else (our own)',
    refused: 'any: foreign-origin',
    plan: world => async () => {
      const { agentKey: key } = world.platform;
      const answer = await world.agent('demo', { key, headers: { origin: 'https://evil.example' } });
      expect(answer.status).toBe(403);
    },
  },
  {
    name: 'a good key, under a name that leads here (our own)',
    refused: 'any: foreign-host',
    plan: world => async () => {
      const { port } = new URL(world.platform.url);
      const headers = { host: `evil.example:${port}`, authorization: `Bearer ${world.platform.agentKey}` };
      expect((await raw(world.platform.agentUrl('demo'), headers)).status).toBe(403);
    },
  },
  {
    name: 'a path that leads from one agent to another (our own)',
    refused: 'agent: unknown-agent',
    plan: world => () =>
      expectShut(
        raw(`${world.platform.url}/shared%2F..%2Fsecond/mcp`, {
          authorization: `Bearer ${world.platform.operatorKey}`,
        }),
      ),
  },
  {
    name: 'the name of an agent in capitals (attack 25)',
    refused: 'agent: unknown-agent',
    plan: world => () => expectShut(world.agent('DEMO', { key: world.platform.operatorKey })),
  },
  {
    name: 'the name of an agent with a space or a NUL behind it (attack 25)',
    refused: 'agent: unknown-agent',
    plan: world => async () => {
      const { operatorKey: key } = world.platform;
      for (const name of ['demo%20', 'demo%00', 'demo%E2%80%8B', '%EF%BD%84emo'])
        await expectShut(world.agent(name, { key }));
    },
  },
  withSession('the session of another key (attack 17)', 'agent: session-other-credential', world =>
    sessionOf(world.platform.agentUrl('demo'), world.platform.agentKey),
  ),
  withSession('the session of another agent (attack 17)', 'agent: session-other-resource', world =>
    sessionOf(world.platform.agentUrl('second'), world.platform.operatorKey),
  ),
  withSession(
    'the session of an agent at the operator door (attack 17)',
    'operator: session-other-resource',
    world => sessionOf(world.platform.agentUrl('demo'), world.platform.operatorKey),
    'operator',
  ),
  withSession('the id of a session that was made up (attack 18)', 'agent: session-malformed', async () =>
    'a'.repeat(64),
  ),
  withSession(
    'the id of a session with a letter changed (attack 18)',
    'agent: session-bad-signature',
    async world => {
      const id = await sessionOf(world.platform.agentUrl('demo'), world.platform.operatorKey);
      return id.slice(0, -1) + (id.endsWith('A') ? 'Q' : 'A');
    },
  ),
  {
    name: 'more calls than a minute has for one key, from wherever (attack 57)',
    refused: 'agent: rate-limited',
    plan: async world => {
      const { token: key } = await world.platform.platform.keys.createUserKey(world.owner, {
        ...{ name: 'busy', scopes: ['agents'] },
      });
      const ask = () => callTool(world.platform.agentUrl('demo'), 'demo', { message: 'hi' }, { key });
      for (let calls = 0; calls < CALLS_A_MINUTE; calls += 1) expect((await ask()).status).toBe(200);
      return async () => {
        const answer = await ask();
        expect([answer.status, answer.headers.has('retry-after')]).toEqual([429, false]);
      };
    },
  },
  {
    name: 'more calls over REST than a minute has for one key (attack 57)',
    refused: 'rest: rate-limited',
    plan: async world => {
      const { token } = await world.platform.platform.keys.createUserKey(world.owner, {
        ...{ name: 'busy too', scopes: ['agents'] },
      });
      const agent = `${world.platform.url}/api/v1/agents/demo/conversations`;
      const send = (path: string, body: object) =>
        fetch(agent + path, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
      const { conversation_id: id } = (await (await send('', {})).json()) as { conversation_id: string };
      const ask = () => send(`/${id}/messages`, { message: 'hi' });
      for (let calls = 0; calls <= CALLS_A_MINUTE; calls += 1) await ask();
      return async () => {
        const answer = await ask();
        expect([answer.status, answer.headers.has('retry-after')]).toEqual([429, true]);
      };
    },
  },
  {
    name: 'a browser without a cookie, at what people have (our own)',
    refused: 'page: foreign-page',
    plan: world => async () => {
      const { url } = world.platform;
      const sent = await fetch(`${url}/account/credentials`, { method: 'POST', body: new URLSearchParams() });
      expect(sent.status).toBe(403);
      expect((await nobody(world).get(`${url}/account`)).location?.pathname).toBe('/sign-in');
    },
  },
];
