import { type Client, ClientError, createClient } from '@patchbay/contract/client';
import type { TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { platforms } from '../doors/platforms.ts';
import { alwaysSays, says } from '../flows/texts.ts';

const ROUNDS = 12;
const TALKERS = 6;

describe.each(platforms)('under load at $kind', ({ start }) => {
  let platform: TestPlatform;
  let client: Client;
  beforeAll(async () => {
    platform = await start();
    client = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
  });
  afterAll(() => platform?.close());

  /** Version 1 says "One.", version 2 "Two."; only the first is deployed. */
  async function build(agentId: string): Promise<void> {
    await client.call('create_document', { type: 'rules', id: agentId, body: alwaysSays });
    for (const [at, text] of ['One.', 'Two.'].entries()) {
      const version = at + 1;
      const uri = (type: string, of: number) => `patchbay://${type}/${agentId}?version=${of}`;
      const save = async (type: 'output' | 'workflow' | 'agent', body: Record<string, unknown>) =>
        version === 1
          ? client.call('create_document', { type, id: agentId, body })
          : client.call('update_document', { type, id: agentId, version: version - 1, body });
      await save('output', says(text));
      await save('workflow', {
        workflowSteps: [
          { type: 'rules', config: { uri: uri('rules', 1) } },
          { type: 'output', config: { uri: uri('output', version) } },
        ],
      });
      await save('agent', { workflows: [uri('workflow', version)] });
    }
    await client.call('deploy_agent', { agentId, version: 1 });
  }

  it('versions come and go, and every call is answered by one of them or told that its conversation was ended', async () => {
    const agentId = 'busy';
    await build(agentId);
    let over = false;
    const seen = new Set<string>();

    async function talk(): Promise<void> {
      while (!over) {
        const first = await say();
        if (first === undefined) continue;
        const again = await say(first.conversationId);
        if (again) expect(again.version).toBe(first.version);
      }
    }
    /** `undefined` when the conversation was ended meanwhile. */
    async function say(conversationId?: string) {
      try {
        const answer = await client.call('chat_with_agent', {
          agentId,
          message: 'hello',
          ...(conversationId && { conversationId }),
        });
        seen.add(answer.status ?? answer.agentResponse!);
        if (answer.status !== undefined) return undefined;
        const version = answer.response!.agentVersion;
        expect(answer.agentResponse).toBe(['One.', 'Two.'][version - 1]);
        return { conversationId: answer.conversationId!, version };
      } catch (thrown) {
        if (!(thrown instanceof ClientError)) throw thrown;
        expect(['cancelled', 'conflict'], thrown.message).toContain(thrown.code);
        return undefined;
      }
    }
    async function comeAndGo(): Promise<void> {
      for (let round = 0; round < ROUNDS; round += 1) {
        expect(await client.call('deploy_agent', { agentId, version: 2 })).toMatchObject({ deployed: true });
        await vi.waitFor(() => expect(seen).toContain('Two.'), { interval: 5 });
        seen.delete('Two.');
        const undeployed = await client.call('undeploy_agent', {
          agentId,
          version: 2,
          endConversations: true,
        });
        expect(undeployed).toMatchObject({ status: 200 });
      }
    }
    const talking = Promise.all(Array.from({ length: TALKERS }, talk));
    const coming = comeAndGo().finally(() => {
      over = true;
    });
    await Promise.all([talking, coming]);
    expect(seen).toContain('One.');
    const failures = platform.logLines().filter(line => line.level === 'error');
    expect(failures).toEqual([]);
  }, 60_000);
});
