// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import { readFile } from 'node:fs/promises';
import { createClient } from '@patchbay/contract/client';
import { startTestPlatform } from '@patchbay/testing/platform';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ann, say } from '../conversations/setup.ts';
import { startFaultServer } from './fault-server.ts';

/** The first example of a section of the page about agent files. */
async function example(member: string): Promise<Record<string, unknown>> {
  const page = await readFile(new URL('../../docs/agent-files.md', import.meta.url), 'utf8');
  const section = page.slice(page.indexOf(`\n## ${member}:`));
  const [, yaml = ''] = /```yaml\n([\s\S]*?)```/.exec(section) ?? [];
  return parse(yaml) as Record<string, unknown>;
}

describe('the examples of the page about agent files', () => {
  it('make an agent that keeps an order and sends it, with the credential from the vault', async () => {
    await using server = await startFaultServer();
    const platform = await startTestPlatform({ env: { PATCHBAY_EGRESS_PRIVATE_HOSTS: '127.0.0.1' } });
    try {
      const client = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
      await client.call('put_secret', { name: 'shop-key', value: 'the key of the shop' });
      const members = await Promise.all(
        ['dictionary', 'rules', 'property', 'httpcalls', 'output'].map(example),
      );
      const file = Object.assign({ agent: 'coffee', name: 'Coffee' }, ...members);
      await client.call('deploy_agent_file', {
        file: { ...file, httpcalls: { ...file.httpcalls, targetServerUrl: `${server.url}/v1` } },
      });
      const { conversationId } = await client.call('create_conversation', { agentId: 'coffee' });
      await client.call('talk_to_agent', {
        agentId: 'coffee',
        conversationId,
        message: 'A coffee, "please"',
      });
      expect(server.requests).toEqual([
        expect.objectContaining({
          method: 'POST',
          path: '/v1/orders',
          headers: expect.objectContaining({ authorization: 'Bearer the key of the shop' }),
        }),
      ]);
      expect(JSON.parse(server.requests[0]!.body)).toEqual({ what: 'A coffee, "please"', cups: 1 });
      const { conversationProperties } = await client.call('read_conversation', { conversationId });
      expect(conversationProperties).toMatchObject({
        order: 'A coffee, "please"',
        cups: 1,
        favourite: 'A coffee, "please"',
      });
    } finally {
      await platform.close();
    }
  });

  it('keep what a person says as a secret in the vault, and send it where its property is', async () => {
    await using server = await startFaultServer();
    const platform = await startTestPlatform({ env: { PATCHBAY_EGRESS_PRIVATE_HOSTS: '127.0.0.1' } });
    try {
      const client = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
      await client.call('deploy_agent_file', {
        file: {
          agent: 'pin',
          name: 'Pin',
          mcp_enabled: true,
          rules: {
            behaviorGroups: [
              {
                name: 'all',
                executionStrategy: 'executeAll',
                rules: [
                  {
                    name: 'secret',
                    actions: ['keep'],
                    conditions: [
                      {
                        type: 'contextmatcher',
                        configs: { contextKey: 'secretInput', contextType: 'string', string: 'true' },
                      },
                    ],
                  },
                  {
                    name: 'call',
                    actions: ['call'],
                    conditions: [{ type: 'sizematcher', configs: { valuePath: 'input', min: 1 } }],
                  },
                ],
              },
            ],
          },
          property: {
            setOnActions: ['keep'],
            propertyInstructions: [{ name: 'pin', valueString: '{{ input }}', scope: 'secret' }],
          },
          httpcalls: {
            targetServerUrl: server.url,
            httpCalls: [
              {
                name: 'c',
                actions: ['call'],
                request: { path: '/echo', headers: { 'X-Pin': '{{ properties.pin }}' } },
              },
            ],
          },
          output: { outputSet: [] },
        },
      });
      const { turns, owner } = platform.platform;
      const answer = await say(turns, {
        principal: { ...ann, id: owner.id },
        agentId: 'pin',
        input: 's3cret-pin-9876',
        context: { secretInput: 'true' },
      });
      expect(server.requests.map(({ headers }) => headers['x-pin'])).toEqual(['s3cret-pin-9876']);
      const { db } = platform.platform.store;
      const kept = [answer, platform.logLines()] as unknown[];
      for (const table of [
        'conversations',
        'conversation_steps',
        'audit_records',
        'user_memories',
        'secrets',
      ] as const) {
        kept.push(await db.selectFrom(table).selectAll().execute());
      }
      expect(JSON.stringify(kept)).not.toContain('s3cret-pin-9876');
      expect(JSON.stringify(kept)).toContain('${vault:conv_');
    } finally {
      await platform.close();
    }
  });
});
