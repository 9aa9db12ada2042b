// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createClient } from '@patchbay/contract/client';
import type { TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Principal } from '../../packages/server/src/kernel/principal.ts';
import { dumpFolder, dumpTables, newCanary, placesWith, recordingFetch } from '../canary.ts';
import { platforms } from '../doors/platforms.ts';
import { callingAgent } from '../httpcalls/calling-agent.ts';

/** Answers with all it was sent, in its headers too; what it got is kept. */
async function startEcho() {
  const got: string[] = [];
  const server: Server = createServer(async (request, response) => {
    const body = await text(request);
    const { authorization = '', 'x-key': key = '' } = request.headers;
    const all = JSON.stringify({ url: request.url, authorization, key, body });
    got.push(all);
    const basic = Buffer.from(`user:${key}`).toString('base64');
    response.writeHead(request.url?.startsWith('/fails') ? 500 : 200, {
      'content-type': 'application/json',
      'x-echo': encodeURIComponent(`${authorization} ${basic}`),
    });
    response.end(JSON.stringify({ all, basic }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { got, url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

describe.each(platforms)('secrets at work on $kind', ({ start }) => {
  let platform: TestPlatform;
  let echo: Awaited<ReturnType<typeof startEcho>>;
  let recorder: ReturnType<typeof recordingFetch>;
  let client: ReturnType<typeof createClient>;
  beforeAll(async () => {
    echo = await startEcho();
    platform = await start({
      env: {
        PATCHBAY_VAULT_KEY: randomBytes(32).toString('hex'),
        PATCHBAY_EGRESS_PRIVATE_HOSTS: '127.0.0.1',
        PATCHBAY_LOG_LEVEL: 'debug',
      },
    });
    recorder = recordingFetch();
    client = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch: recorder.fetch });
  });
  afterAll(async () => {
    await platform?.close();
    echo?.close();
  });

  const everywhere = async () => ({
    answers: recorder.answers,
    log: platform.logLines(),
    ...(await dumpTables(platform.platform.store)),
    ...(await dumpFolder(platform.dataDir)),
  });

  it('reach the server they are for, and nothing that is kept or shown holds them', async () => {
    // A header takes no other characters than these.
    const canary = { ...newCanary(), value: '' };
    canary.value = `k+/${canary.core}&=%`;
    await client.call('put_secret', { name: 'echo-key', value: canary.value, allowedAgents: ['caller'] });
    await client.call('put_variable', { name: 'place', value: 'a/b' });
    const request = {
      method: 'POST',
      headers: { Authorization: 'Bearer ${vault:echo-key}', 'X-Key': '${vault:echo-key}' },
      queryParams: { key: '${vault:echo-key}' },
      body: '{"key": "${vault:echo-key}", "said": "{{ input }}"}',
    };
    const shared = { responseHeaderObjectName: 'headers' };
    await client.call('deploy_agent_file', {
      file: callingAgent('caller', echo.url, [
        { ...shared, name: 'works', request: { ...request, path: '/works/${vars:place}' } },
        { ...shared, name: 'fails', request: { ...request, path: '/fails' } },
      ]),
    });
    for (const message of ['works', 'fails']) {
      await client.call('chat_with_agent', { agentId: 'caller', message });
      const seen = JSON.parse(echo.got.at(-1)!) as Record<string, string>;
      expect(seen).toMatchObject({ authorization: `Bearer ${canary.value}`, key: canary.value });
      expect(JSON.parse(seen.body!)).toEqual({ key: canary.value, said: message });
      expect(new URL(seen.url!, echo.url).searchParams.get('key')).toBe(canary.value);
    }
    expect(echo.got[0]).toContain('/works/a/b?');
    expect(recorder.answers.join()).toContain('[redacted]');
    expect(placesWith(canary, await everywhere())).toEqual([]);
  });

  it('that a person tells are kept for their conversation alone, and go with it', async () => {
    const canary = newCanary();
    const told = `told-${canary.core}`;
    const agent = callingAgent('teller', echo.url, [
      {
        name: 'use',
        request: { method: 'POST', headers: { Authorization: 'Bearer {{ properties.token }}' } },
      },
    ]);
    await client.call('deploy_agent_file', {
      file: {
        ...agent,
        property: {
          setOnActions: [
            {
              actions: ['keep'],
              setProperties: [{ name: 'token', valueString: '{{ input }}', scope: 'secret' }],
            },
          ],
        },
        rules: {
          expressionsAsActions: true,
          behaviorGroups: [
            {
              name: 'all',
              rules: [
                {
                  name: 'keep',
                  actions: ['keep'],
                  conditions: [
                    {
                      type: 'contextmatcher',
                      configs: { contextKey: 'secretInput', contextType: 'string', string: 'true' },
                    },
                  ],
                },
                { name: 'speak', actions: ['speak'], conditions: [] },
              ],
            },
          ],
        },
      },
    });
    const { conversationId } = await client.call('create_conversation', { agentId: 'teller' });
    const { turns, owner } = platform.platform;
    const principal: Principal = {
      id: owner.id,
      roles: new Set(owner.roles),
      via: 'cli',
      credential: 'test',
      agents: { kind: 'own' },
    };
    const say = async (message: string, context?: Record<string, unknown>) => {
      const admission = await turns.admitTurn({
        ...{ principal, access: 'own', agentId: 'teller', conversationId, input: message },
        ...(context && { context }),
      });
      if (admission.kind !== 'claimed') throw new Error(admission.kind);
      return admission.turn.run({ signal: new AbortController().signal });
    };
    const answers = [await say(told, { secretInput: 'true' }), await say('use')];
    expect(echo.got.at(-1)).toContain(`Bearer ${told}`);
    expect(placesWith({ ...canary, value: told }, { ...(await everywhere()), told: answers })).toEqual([]);
    const { store } = platform.platform;
    const kept = await store.db
      .selectFrom('secrets')
      .select(['name', 'conversation_id'])
      .where('conversation_id', 'is not', null)
      .execute();
    expect(kept).toEqual([
      { name: expect.stringMatching(`^${conversationId}.\\d+.token$`), conversation_id: conversationId },
    ]);
    expect((await client.call('list_secrets', {})).secrets.map(({ name }) => name)).toEqual(['echo-key']);

    // What was told before is still there when the turn that told another one is taken back.
    await say('another secret', { secretInput: 'true' });
    await turns.move(principal, conversationId, 'undo');
    await say('use');
    expect(echo.got.at(-1)).toContain(`Bearer ${told}`);

    await store.commit(async db => {
      await db.deleteFrom('conversations').where('id', '=', conversationId).execute();
    });
    expect(await store.db.selectFrom('secrets').select('name').execute()).toEqual([{ name: 'echo-key' }]);
  });

  it('are no secrets as variables: templates show them', async () => {
    await client.call('put_variable', { name: 'shop-url', value: 'https://shop.example.com' });
    await client.call('put_variable', { name: '__proto__', value: 'just a name' });
    const agent = callingAgent('shower', echo.url, [{ name: 'unused' }]);
    const shown = '{{ vars.shop-url }} {{ vars.nothing }} {{ vars["__proto__"] }}';
    await client.call('deploy_agent_file', {
      file: {
        ...agent,
        output: {
          outputSet: [{ action: 'speak', outputs: [{ valueAlternatives: [{ type: 'text', text: shown }] }] }],
        },
      },
    });
    const { agentResponse } = await client.call('chat_with_agent', { agentId: 'shower', message: 'hello' });
    expect(agentResponse).toBe('https://shop.example.com  just a name');
  });
});
