import { createClient } from '@patchbay/contract/client';
import { OPERATIONS, type Operation } from '@patchbay/contract/operations';
import type { TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newKeyToken } from '../../packages/server/src/auth/key/key-token.ts';
import * as ids from '../../packages/server/src/kernel/ids.ts';
import { refusedReasons } from '../authorization/refused-reasons.ts';
import { platforms } from '../doors/platforms.ts';
import { callTool, post, rpc, startTool, toolError } from '../doors/wire.ts';
import { rest } from '../rest/rest-client.ts';

/** Bits of chance that each id has at least, by how many different characters stand at each of its places. */
function bitsOf(make: () => string): number {
  const made = Array.from({ length: 2_000 }, make);
  expect(new Set(made).size).toBe(made.length);
  let bits = 0;
  for (let place = 0; place < made[0]!.length; place += 1) {
    const counts = Map.groupBy(made, text => text[place]);
    // Of characters that come alike often, each says so much; a character that is always the same says nothing.
    const entropy = [...counts.values()].reduce((sum, { length }) => {
      const share = length / made.length;
      return sum - share * Math.log2(share);
    }, 0);
    bits += entropy;
  }
  return bits;
}

describe('an id that opens or names something', () => {
  it.each([
    ['a user key', () => newKeyToken('user'), 250],
    ['an agent key', () => newKeyToken('agent'), 250],
    ['a conversation', ids.newConversationId, 128],
    ['a file', ids.newFileId, 128],
    ['a task', ids.newTaskId, 128],
    ['a message', ids.newMessageId, 128],
    ['what a person allowed', ids.newGrantId, 128],
    ['a person', ids.newUserId, 99],
    ['a key', ids.newKeyId, 99],
    ['a pause', ids.newPauseId, 99],
    ['an agent', () => ids.newDocumentId('agent'), 99],
  ])('of %s cannot be guessed (attack 18)', (_, make, least) => {
    // The estimate of 2000 is a little low: an alphabet of 32 looks like 4.99 bits.
    expect(bitsOf(make) * 1.01).toBeGreaterThan(least);
  });
});

describe.each(platforms)('at the doors of $kind', ({ start }) => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await start({ env: { PATCHBAY_AGENT_DOOR_RATE: '40' } });
  });
  afterAll(() => platform?.close());

  const written = (reason: string) => expect.poll(() => refusedReasons(platform)).toContain(reason);

  const LOOK_ALIKES = [
    ['another case', 'List_Agents'],
    ['letters of full width', 'ｌist_agents'],
    ['a Cyrillic letter', 'lіst_agents'],
    ['a space behind', 'list_agents '],
    ['a NUL behind', 'list_agents\0'],
    ['a line break', 'list_agents\n'],
    ['a soft hyphen', 'list\u00ad_agents'],
    ['a prefix', 'patchbay__list_agents'],
    ['two prefixes', 'a__b__list_agents'],
    ['a path', '../list_agents'],
  ] as const;

  it.each(LOOK_ALIKES)(
    'a tool whose name has %s is another, which is not there (attack 25)',
    async (_, name) => {
      for (const key of [platform.operatorKey, (await platform.addPerson([])).key]) {
        const { status, body } = await callTool(platform.operatorUrl, name, {}, { key });
        expect([status, body.result]).toEqual([400, undefined]);
        expect(body.error.code).toBeOneOf([-32602, -32700]);
      }
    },
  );

  it.each([
    ['another case', 'Demo'],
    ['letters of full width', '%EF%BD%84emo'],
    ['a space behind', 'demo%20'],
    ['a NUL behind', 'demo%00'],
    ['a dot in front', '.demo'],
    ['a path inside', 'x%2F..%2Fdemo'],
    ['a second agent', 'demo,other'],
    ['a name of the prototype', '__proto__'],
  ])(
    'an agent whose id has %s is nobody, with the same answer as to a stranger (attack 25)',
    async (_, segment) => {
      const stranger = await rpc(platform.agentUrl('demo'), 'tools/list', {}, {});
      const url = `${platform.url}/${segment}/mcp`;
      const { status, body } = await rpc(url, 'tools/list', {}, { key: platform.agentKey });
      expect(status).toBe(401);
      expect(body).toEqual(stranger.body);
    },
  );

  it('what is on no list is callable by nobody, an admin neither (attack 26)', async () => {
    const hidden = (OPERATIONS as readonly Operation[]).filter(({ tool }) => !tool);
    expect(hidden.map(({ name }) => name)).toContain('create_key');
    for (const { name } of hidden) {
      const { body } = await callTool(platform.operatorUrl, name, {}, { key: platform.operatorKey });
      expect(body.error, name).toMatchObject({ code: -32602, message: `Unknown tool: ${name}` });
    }
  });

  it('who may read no page reads none: as a tool, as a resource, by its template and over REST (attack 26)', async () => {
    const { key } = await platform.addPerson([]);
    const names = async (method: string) =>
      JSON.stringify((await rpc(platform.operatorUrl, method, {}, { key })).body);
    expect(await names('tools/list')).not.toContain('read_docs');
    expect(await names('resources/list')).not.toContain('patchbay://docs');
    for (const uri of ['patchbay://docs/keys', 'eddi://docs/keys', 'patchbay://docs/index']) {
      const { body } = await rpc(platform.operatorUrl, 'resources/read', { uri }, { key });
      expect(body.error?.code, uri).toBe(-32005);
    }
    const asTool = await callTool(platform.operatorUrl, 'read_docs', { name: 'keys' }, { key });
    expect(toolError(asTool)?.errorCode).toBe('FORBIDDEN');
    expect((await rest(platform.url, 'GET', '/docs/keys', { key })).status).toBe(403);
  });

  it.each(['prompts/get', 'prompts/list', 'completion/complete', 'tasks/get', 'resources/subscribe'])(
    '%s, which no door has, is no way around (attack 26)',
    async method => {
      for (const url of [platform.operatorUrl, platform.agentUrl('demo')]) {
        const { body } = await rpc(url, method, { name: 'read_docs' }, { key: platform.operatorKey });
        expect(body.error?.code).toBe(-32601);
      }
    },
  );

  it.each([
    ['a key of an object twice', '{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}'],
    ['another id twice', '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}'],
    ['a million brackets', `{"jsonrpc":"2.0","id":1,"method":"ping","params":${'['.repeat(1e6)}`],
    ['a number without end as id', '{"jsonrpc":"2.0","id":1e999,"method":"ping"}'],
    [
      'a prototype as params',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"__proto__":{"name":"demo"}}}',
    ],
    ['a list in a list', '[[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]]'],
  ])('a body with %s runs nothing and opens nothing (attack 27)', async (_, body) => {
    for (const url of [platform.operatorUrl, platform.agentUrl('demo')]) {
      const answer = await post(url, body, { key: platform.operatorKey });
      const said = JSON.stringify(answer.body);
      expect(answer.status).toBeLessThan(500);
      expect(said).toContain('error');
      expect(said).not.toContain('"result"');
      expect(({} as Record<string, unknown>).name).toBeUndefined();
    }
  });

  it('an id of 1e308 comes back as it was sent, or is refused (attack 27)', async () => {
    const { body } = await post(platform.operatorUrl, '{"jsonrpc":"2.0","id":1e308,"method":"ping"}', {
      key: platform.operatorKey,
    });
    expect(body.id === 1e308 || body.error !== undefined).toBe(true);
  });

  it('a session of one credential is nobody’s for another one, and that is written down (attack 17)', async () => {
    const hello = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'x', version: '1' },
    };
    const mine = { key: platform.agentKey };
    const opened = await rpc(platform.agentUrl('demo'), 'initialize', hello, mine);
    const headers = { 'mcp-session-id': opened.headers.get('mcp-session-id')! };
    const { status, body } = await rpc(
      platform.agentUrl('demo'),
      'tools/list',
      {},
      {
        key: platform.operatorKey,
        headers,
      },
    );
    expect([status, body.error.code]).toEqual([404, -32001]);
    expect(
      (await rpc(platform.operatorUrl, 'tools/list', {}, { key: platform.operatorKey, headers })).status,
    ).toBe(404);
    await written('session-other-credential');
    await written('session-other-resource');
  });

  it('what is named otherwise in the body than in the path is neither of the two (attack 22)', async () => {
    const answer = await rest(platform.url, 'POST', '/agents/demo/shares', {
      ...{ key: platform.operatorKey, body: { agentId: 'other', with: 'everyone' } },
    });
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_param']);
    const shares = await rest(platform.url, 'GET', '/agents/demo/shares', { key: platform.operatorKey });
    expect(JSON.stringify(shares.body)).not.toContain('everyone');
  });

  it('too many calls are told by credential and agent, without Retry-After at this door (attack 57, B-74)', async () => {
    const owner = platform.platform.owner.id;
    const key = async () =>
      (await platform.platform.keys.createUserKey(owner, { name: 'x', scopes: ['agents'] })).token;
    const [one, other] = [await key(), await key()];
    const call = (token: string) =>
      callTool(platform.agentUrl('demo'), 'demo', { message: 'hello' }, { key: token });
    // Two nodes tell each other once a second, so as many may come in at each.
    let last = await call(one);
    for (let count = 0; count < 85 && last.status === 200; count += 1) last = await call(one);
    expect(last.status).toBe(429);
    expect(last.headers.get('retry-after')).toBeNull();
    expect((await call(other)).status).toBe(200);
    await written('rate-limited');
  });

  it('many credentials at once get their own answers and nobody else’s (attack 19)', async () => {
    const people = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const { userId } = await platform.addPerson(['patchbay-user']);
        const record = { name: 'x', scopes: ['agents'], shared: true } as const;
        return { userId, key: (await platform.platform.keys.createUserKey(userId, record)).token };
      }),
    );
    const owner = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
    await owner.call('share_agent', { agentId: 'demo', with: 'everyone' });
    const conversations = await Promise.all(
      people.map(async ({ key }) => {
        const { answer } = await startTool(platform.agentUrl('demo'), 'demo', { message: 'hello' }, { key });
        return (await answer).body.at(-1).result.structuredContent.context_id as string;
      }),
    );
    expect(new Set(conversations).size).toBe(people.length);
    const crossed = await Promise.all(
      people.flatMap(({ key }, who) =>
        conversations.map(async (context_id, whose) => {
          const args = { message: 'hello', context_id };
          const { status } = await callTool(platform.agentUrl('demo'), 'demo', args, { key });
          return [who === whose, status];
        }),
      ),
    );
    for (const [isOwn, status] of crossed) expect(status).toBe(isOwn ? 200 : 403);
    await owner.call('unshare_agent', { agentId: 'demo', with: 'everyone' });
  });
});
