import { createHmac, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from '@patchbay/contract/client';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { engines, newTestDatabase } from '@patchbay/testing/stores';
import { generateKeyPair } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setDisabled } from '../../packages/server/src/store/tables/accounts.ts';
import { type GrantRecord, revokeGrant } from '../../packages/server/src/store/tables/grants.ts';
import { callTool, rpc, toolError, type WireOptions } from '../doors/wire.ts';
import { createTokenKit, type Said, type TokenKit } from './tokens.ts';

const agentFile = (agent: string, mcpEnabled: boolean) => ({
  agent,
  name: agent,
  mcp_enabled: mcpEnabled,
  rules: { behaviorGroups: [] },
  output: { outputSet: [] },
});

describe.each(engines)('access tokens at the doors, on %s', engine => {
  const undo = new AsyncDisposableStack();
  let platform: TestPlatform;
  let kit: TokenKit;
  let owner: string;
  /** Of the owner, for the demo agent. */
  let grant: GrantRecord;
  let operatorGrant: GrantRecord;

  beforeAll(async () => {
    const database = engine === 'postgres' ? undo.use(await newTestDatabase()) : undefined;
    platform = await startTestPlatform({
      ...(database && { databaseUrl: database.url }),
      env: { PATCHBAY_AGENT_DOOR_RATE: '0' },
    });
    undo.defer(() => platform.close());
    kit = await createTokenKit(platform);
    owner = platform.platform.owner.id;
    for (const agent of ['second', 'hidden'])
      await operator().call('deploy_agent_file', { file: agentFile(agent, agent !== 'hidden') });
    grant = await kit.allow(owner, { agentIds: ['demo', 'hidden'] });
    operatorGrant = await kit.allow(owner, { door: 'operator' });
  });
  afterAll(() => undo.disposeAsync());

  const operator = () => createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
  const agentStatus = async (agentId: string, key: string) =>
    (await rpc(platform.agentUrl(agentId), 'tools/list', {}, { key })).status;
  const operatorStatus = async (key: string, options: WireOptions = {}) =>
    (await rpc(platform.operatorUrl, 'tools/list', {}, { key, ...options })).status;
  const restStatus = async (key: string, path = '/api/v1/agents') =>
    (await fetch(platform.url + path, { headers: { authorization: `Bearer ${key}` } })).status;

  describe('the agent door', () => {
    it('opens every agent that was granted to a token for all of them, and no other (B-12, B-13, B-31)', async () => {
      const token = await kit.agentToken(grant);
      expect(await agentStatus('demo', token)).toBe(200);
      expect(await agentStatus('second', token)).toBe(401);
      expect(await agentStatus('nobody', token)).toBe(401);
    });

    it('opens one agent to a token for it (attack 1)', async () => {
      const both = await kit.allow(owner, { agentIds: ['demo', 'second'] });
      const token = await kit.agentToken(both, { agentId: 'second' });
      expect(await agentStatus('second', token)).toBe(200);
      expect(await agentStatus('demo', token)).toBe(401);
      // Asking for the token of an agent that was not chosen gives nothing.
      expect(await agentStatus('second', await kit.agentToken(grant, { agentId: 'second' }))).toBe(401);
    });

    it('opens no agent that is not MCP-enabled, also when it was granted (B-75)', async () => {
      expect(await agentStatus('hidden', await kit.agentToken(grant))).toBe(401);
    });

    it('opens no agent of somebody else, whatever their consent says', async () => {
      const { userId } = await platform.addPerson(['patchbay-admin']);
      const foreign = await kit.allow(userId, { agentIds: ['demo'] });
      expect(await agentStatus('demo', await kit.agentToken(foreign))).toBe(401);
    });

    it('runs the agent as the person', async () => {
      const key = await kit.agentToken(grant);
      const answer = await callTool(platform.agentUrl('demo'), 'demo', { message: 'hello' }, { key });
      expect(answer.status).toBe(200);
      const contextId = answer.body.result.structuredContent.context_id;
      const again = await callTool(
        platform.agentUrl('demo'),
        'demo',
        { message: 'hello', context_id: contextId },
        { key: platform.operatorKey },
      );
      expect(again.status).toBe(200);
    });

    it('takes a token until it expires, pasted like any other (E-46, E-47)', async () => {
      const soon = await kit.agentToken(grant, { claims: { exp: kit.now() + 300 } });
      expect(await agentStatus('demo', soon)).toBe(200);
      const late = await kit.agentToken(grant, { claims: { exp: kit.now() - 6 } });
      expect(await agentStatus('demo', late)).toBe(401);
    });
  });

  describe('the operator door', () => {
    it('opens to a token for it, with the roles the person has now (attack 14)', async () => {
      const { userId } = await platform.addPerson(['patchbay-viewer']);
      const key = await kit.operatorToken(await kit.allow(userId, { door: 'operator' }));
      const names = async () =>
        (await rpc(platform.operatorUrl, 'tools/list', {}, { key })).body.result.tools.map(
          ({ name }: { name: string }) => name,
        ) as string[];
      expect(await names()).not.toContain('deploy_agent');
      await platform.platform.users.setRoles(userId, ['patchbay-admin']);
      expect(await names()).toContain('deploy_agent');
      await platform.platform.users.setRoles(userId, []);
      expect(await names()).not.toContain('deploy_agent');
    });

    it('and REST take tokens for /mcp, and none for agents (attack 1)', async () => {
      const operatorToken = await kit.operatorToken(operatorGrant);
      const agents = await kit.agentToken(grant);
      expect([await operatorStatus(operatorToken), await restStatus(operatorToken)]).toEqual([200, 200]);
      expect([await operatorStatus(agents), await restStatus(agents)]).toEqual([401, 401]);
      expect(await restStatus(agents, '/api/v1/agents/demo')).toBe(401);
      expect(await agentStatus('demo', operatorToken)).toBe(401);
    });

    it('lets a client that may only read do so, and says before the first byte what more would take (attack 16)', async () => {
      const reading = await kit.allow(owner, { door: 'operator', scope: 'openid operator:read' });
      const key = await kit.operatorToken(reading);
      expect((await callTool(platform.operatorUrl, 'list_agents', {}, { key })).status).toBe(200);
      const refused = await callTool(
        platform.operatorUrl,
        'create_conversation',
        { agentId: 'demo' },
        { key, stream: true },
      );
      expect(refused.status).toBe(403);
      expect(refused.headers.get('content-type')).toMatch(/^application\/json/);
      expect(refused.headers.get('www-authenticate')).toBe(
        `Bearer error="insufficient_scope", scope="operator operator:read", resource_metadata="${platform.url}/.well-known/oauth-protected-resource/mcp"`,
      );
      const rest = await fetch(`${platform.url}/api/v1/agent-files`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
        body: JSON.stringify({ file: agentFile('third', true) }),
      });
      expect([rest.status, rest.headers.get('www-authenticate')]).toEqual([
        403,
        'Bearer error="insufficient_scope", scope="operator operator:read"',
      ]);
      const more = await kit.allow(owner, { door: 'operator', scope: 'operator operator:read' });
      const allowed = await callTool(
        platform.operatorUrl,
        'create_conversation',
        { agentId: 'demo' },
        { key: await kit.operatorToken(more) },
      );
      expect(allowed.status).toBe(200);
      expect(toolError(allowed)).toBeUndefined();
    });
  });

  describe('a token that is not as we write them opens nothing', () => {
    const agentTricks: readonly [string, () => Said & { agentId?: string }][] = [
      ['of another issuer (attack 1)', () => ({ claims: { iss: 'https://evil.example' } })],
      ['of our issuer with a slash (attack 1)', () => ({ claims: { iss: `${platform.url}/` } })],
      ['for another audience (attack 1)', () => ({ claims: { aud: 'https://evil.example' } })],
      ['for our origin with a slash', () => ({ claims: { aud: `${platform.url}/` } })],
      ['for the operator door (attack 1)', () => ({ claims: { aud: platform.operatorUrl } })],
      ['for several audiences', () => ({ claims: { aud: [platform.url, 'https://evil.example'] } })],
      ['without audience', () => ({ claims: { aud: undefined } })],
      ['without end', () => ({ claims: { exp: undefined } })],
      ['that has ended (attack 3)', () => ({ claims: { exp: kit.now() - 60 } })],
      ['that begins later (attack 3)', () => ({ claims: { nbf: kit.now() + 60 } })],
      ['without person', () => ({ claims: { sub: undefined } })],
      ['of another person (attack 22)', () => ({ claims: { sub: 'user_somebody' } })],
      ['of another client', () => ({ claims: { client_id: 'other' } })],
      ['of no grant', () => ({ claims: { grant: 'grant_none' } })],
      ['of a grant for the other door', () => ({ claims: { grant: operatorGrant.id } })],
      ['of another type, as an id token has (attack 2)', () => ({ header: { typ: 'JWT' } })],
      [
        'with another length of hash (attack 2)',
        () => ({ header: { alg: 'HS512' }, key: new Uint8Array(64) }),
      ],
      [
        'signed with an empty key, by a kid that is a path (attack 2)',
        () => ({
          header: { kid: '../../../../dev/null' },
          key: new Uint8Array(32),
        }),
      ],
      ['signed with the cookie secret', () => ({ key: kit.keys.cookie })],
      ['with a critical header', () => ({ header: { crit: ['x'], x: 1 } })],
    ];
    it.each(agentTricks)('%s', async (_name, said) => {
      expect(await agentStatus('demo', await kit.agentToken(grant))).toBe(200);
      const trick = await kit.agentToken(grant, said()).catch(() => undefined);
      if (trick !== undefined) expect(await agentStatus('demo', trick)).toBe(401);
      else expect(await agentStatus('demo', await withHeader(said().header!))).toBe(401);
    });

    /** What jose refuses to sign. */
    async function withHeader(header: Readonly<Record<string, unknown>>): Promise<string> {
      const [, payload] = (await kit.agentToken(grant)).split('.');
      const head = Buffer.from(JSON.stringify({ alg: 'HS256', typ: 'at+jwt', ...header })).toString(
        'base64url',
      );
      const mac = createHmac('sha256', kit.keys.hs256).update(`${head}.${payload}`).digest('base64url');
      return `${head}.${payload}.${mac}`;
    }

    it('one that needs no signature (attack 2)', async () => {
      const [, payload] = (await kit.agentToken(grant)).split('.');
      for (const alg of ['none', 'None', 'nOnE', '']) {
        const header = Buffer.from(JSON.stringify({ alg, typ: 'at+jwt' })).toString('base64url');
        expect(await agentStatus('demo', `${header}.${payload}.`), alg).toBe(401);
        expect(await operatorStatus(`${header}.${payload}.`), alg).toBe(401);
      }
    });

    it('one for the operator door that is signed by HS256 with our public key (attack 2)', async () => {
      const { d: _, ...publicKey } = kit.keys.es256;
      for (const key of [JSON.stringify(publicKey), publicKey.x!, kit.keys.hs256]) {
        const token = await kit.operatorToken(operatorGrant, {
          header: { alg: 'HS256' },
          key: typeof key === 'string' ? Buffer.from(key.padEnd(32)) : key,
        });
        expect(await operatorStatus(token)).toBe(401);
      }
    });

    it('one that brings its key along or says where it is, and nothing is fetched (attack 2)', async () => {
      let asked = 0;
      const server = createServer((_, response) => {
        asked += 1;
        response.end('{"keys":[]}');
      }).listen(0, '127.0.0.1');
      await new Promise(resolve => server.once('listening', resolve));
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`;
      const { privateKey } = await generateKeyPair('ES256', { extractable: true });
      for (const header of [
        { jku: url },
        { x5u: url },
        { jwk: { kty: 'EC' } },
        { x5c: ['x'] },
        { kid: url },
      ]) {
        const token = await kit.operatorToken(operatorGrant, { header, key: privateKey });
        expect(await operatorStatus(token), JSON.stringify(header)).toBe(401);
      }
      expect(await operatorStatus(await kit.operatorToken(operatorGrant, { header: { jku: url } }))).toBe(
        401,
      );
      expect(asked).toBe(0);
      await new Promise(resolve => server.close(resolve));
    });

    it('one that was changed by a letter', async () => {
      const token = await kit.operatorToken(operatorGrant);
      const [head, payload, mac] = token.split('.') as [string, string, string];
      const changed = Buffer.from(payload, 'base64url')
        .toString()
        .replace(owner, `user_${'a'.repeat(20)}`);
      expect(await operatorStatus(`${head}.${Buffer.from(changed).toString('base64url')}.${mac}`)).toBe(401);
      expect(await operatorStatus(`${head}.${payload}.${mac.slice(0, -2)}AA`)).toBe(401);
      expect(await operatorStatus(`${token}.${mac}`)).toBe(401);
    });

    it('one that is longer than any of ours', async () => {
      expect(
        await agentStatus('demo', await kit.agentToken(grant, { claims: { x: 'x'.repeat(9_000) } })),
      ).toBe(401);
    });

    it('clocks may differ by five seconds and no more (attack 3)', async () => {
      const edge = async (claims: Record<string, number>) =>
        agentStatus('demo', await kit.agentToken(grant, { claims }));
      expect(await edge({ exp: kit.now() - 2 })).toBe(200);
      expect(await edge({ exp: kit.now() - 7 })).toBe(401);
      expect(await edge({ nbf: kit.now() + 3 })).toBe(200);
      expect(await edge({ nbf: kit.now() + 10 })).toBe(401);
    });
  });

  describe('one request has one credential', () => {
    it('a token and a key are two, at both doors (B-18, B-19, attack 4)', async () => {
      const token = await kit.agentToken(grant);
      const { status } = await rpc(
        platform.agentUrl('demo'),
        'tools/list',
        {},
        { key: token, headers: { 'x-agent-api-key': platform.agentKey } },
      );
      expect(status).toBe(401);
      const operator = await kit.operatorToken(operatorGrant);
      expect(await operatorStatus(operator, { headers: { 'x-agent-api-key': platform.agentKey } })).toBe(401);
    });

    it('a token in the header of agent keys is none (B-22)', async () => {
      const headers = { 'x-agent-api-key': await kit.agentToken(grant) };
      expect((await rpc(platform.agentUrl('demo'), 'tools/list', {}, { headers })).status).toBe(401);
    });

    it('one in the address is refused, also beside a good one (attack 4)', async () => {
      const token = await kit.agentToken(grant);
      for (const key of [undefined, token]) {
        const inAddress = `${platform.agentUrl('demo')}?access_token=${token}`;
        expect((await rpc(inAddress, 'tools/list', {}, { key })).status).toBe(401);
      }
      const operator = await kit.operatorToken(operatorGrant);
      expect(await restStatus(operator, `/api/v1/agents?access_token=${operator}`)).toBe(401);
    });
  });

  it('a grant that is taken back opens nothing from then on (attack 14)', async () => {
    const own = await kit.allow(owner, { agentIds: ['demo'] });
    const token = await kit.agentToken(own);
    expect(await agentStatus('demo', token)).toBe(200);
    const { store } = platform.platform;
    await store.commit(db => revokeGrant(db, { id: own.id, at: Date.now() }));
    expect(await agentStatus('demo', token)).toBe(401);
    const over = await kit.allow(owner, { agentIds: ['demo'], expiresAt: Date.now() - 1 });
    expect(await agentStatus('demo', await kit.agentToken(over))).toBe(401);
  });

  it('a person who is disabled comes in with none of their tokens (attack 14)', async () => {
    const { userId } = await platform.addPerson(['patchbay-viewer']);
    const token = await kit.operatorToken(await kit.allow(userId, { door: 'operator' }));
    expect(await operatorStatus(token)).toBe(200);
    await platform.platform.store.commit(db => setDisabled(db, userId, true));
    expect(await operatorStatus(token)).toBe(401);
  });

  it('a session goes on with a token that was refreshed, and with no other grant (attack 17)', async () => {
    const hello = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'x', version: '1' },
    };
    const url = platform.agentUrl('demo');
    const opened = await rpc(url, 'initialize', hello, { key: await kit.agentToken(grant) });
    const headers = { 'mcp-session-id': opened.headers.get('mcp-session-id')! };
    const refreshed = await kit.agentToken(grant, { claims: { jti: randomUUID() } });
    expect((await rpc(url, 'tools/list', {}, { key: refreshed, headers })).status).toBe(200);
    const other = await kit.agentToken(await kit.allow(owner, { agentIds: ['demo'] }));
    expect((await rpc(url, 'tools/list', {}, { key: other, headers })).status).toBe(404);
    expect((await rpc(url, 'tools/list', {}, { key: platform.operatorKey, headers })).status).toBe(404);
  });

  it('every refusal at the agent door is the same, and is found with its reason (attack 23, B-77)', async () => {
    const own = await kit.allow(owner, { agentIds: ['demo', 'ghost'] });
    const token = await kit.agentToken(own);
    const answers = await Promise.all(
      (
        [
          ['second', token],
          ['ghost', token],
          ['second', await kit.agentToken(own, { agentId: 'demo' })],
          ['second', await kit.agentToken(own, { claims: { exp: kit.now() - 60 } })],
          ['second', undefined],
        ] as const
      ).map(async ([agentId, key]) => {
        const answer = await rpc(platform.agentUrl(agentId), 'tools/list', {}, { key });
        const challenge = answer.headers.get('www-authenticate')!.replace(`/${agentId}/`, '/AGENT/');
        return JSON.stringify([answer.status, challenge, answer.body, [...answer.headers.keys()].sort()]);
      }),
    );
    expect(new Set(answers).size).toBe(1);
    await expect
      .poll(async () => {
        const { events } = await operator().call('list_audit_events', { limit: 200 });
        return events
          .filter(({ subject }) => subject.grantId === own.id)
          .map(({ subject }) => subject.reason)
          .sort();
      })
      .toEqual(['not-owner', 'other-audience', 'unknown-agent']);
  });
});
