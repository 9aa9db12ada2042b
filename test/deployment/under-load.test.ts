import { type Client, ClientError, createClient } from '@patchbay/contract/client';
import type { TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { platforms } from '../doors/platforms.ts';
import { alwaysSays, says } from '../flows/texts.ts';

/** What is deployed and undeployed, in order: each version with its text, the compatible ones go on with conversations of the one before. */
const CHANGES = [
  { version: 2, compatible: true },
  { version: 3, compatible: false },
  { version: 4, compatible: true },
  { version: 5, compatible: false },
  { version: 6, compatible: false },
  { version: 7, compatible: true },
] as const;
const TALKERS = 6;

/** Performance time, in ms; a version could answer between the start of its deployment and the end of its undeployment. */
interface Life {
  from: number;
  to: number;
}

describe.each(platforms)('versions of an agent at $kind', ({ start }) => {
  let platform: TestPlatform;
  let client: Client;
  beforeAll(async () => {
    platform = await start();
    client = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
  });
  afterAll(() => platform?.close());

  it('come and go while people talk: every answer is of a version that was deployed, and conversations keep theirs', {
    timeout: 120_000,
  }, async () => {
    const built = await build(client);
    const { agentId } = built;
    const lives = new Map<number, Life>();
    const complaints: string[] = [];
    const followed = new Map<number, number>([[1, 1]]);
    let isOver = false;
    let answers = 0;

    async function talk(): Promise<void> {
      let conversation: { id: string; version: number; messages: number } | undefined;
      while (!isOver) {
        const from = performance.now();
        const started = conversation;
        const answer = await client
          .call('chat_with_agent', {
            agentId,
            message: 'hello',
            ...(started && { conversationId: started.id }),
          })
          .catch(error => ({ error, conversationId: '' }));
        const to = performance.now();
        if ('error' in answer) {
          // Its conversation was ended while it was answered.
          const isEnded =
            answer.error instanceof ClientError && ['conflict', 'cancelled'].includes(answer.error.code);
          if (!isEnded) complaints.push(String(answer.error));
          conversation = undefined;
          continue;
        }
        // Somebody else had it for a moment: the one who ended it.
        if (answer.status === 'BUSY') continue;
        if (answer.status === 'CONVERSATION_NOT_ACTIVE') {
          conversation = undefined;
          continue;
        }
        const version = Number(/version (\d+)/.exec(answer.agentResponse ?? '')?.[1]);
        if (!version) {
          complaints.push(`no version: ${JSON.stringify(answer).slice(0, 300)}`);
          continue;
        }
        answers += 1;
        const life = lives.get(version);
        if (!life || life.from > to) complaints.push(`version ${version} answered before it was deployed`);
        if (!started && life && life.to < from)
          complaints.push(`version ${version} began a conversation after it was undeployed`);
        if (started && version !== started.version && followed.get(version) !== followed.get(started.version))
          complaints.push(`a conversation went from version ${started.version} to ${version}`);
        conversation = { id: answer.conversationId!, version, messages: (started?.messages ?? 0) + 1 };
        if (started && started.messages > 5) conversation = undefined;
      }
    }

    lives.set(1, { from: performance.now(), to: Number.POSITIVE_INFINITY });
    await client.call('deploy_agent', { agentId, version: 1 });
    const talking = Array.from({ length: TALKERS }, talk);
    const others: Promise<unknown>[] = [];
    for (const { version, compatible } of CHANGES) {
      followed.set(version, compatible ? followed.get(version - 1)! : version);
      await built.addVersion(version, compatible);
      lives.set(version, { from: performance.now(), to: Number.POSITIVE_INFINITY });
      await client.call('deploy_agent', { agentId, version });
      await new Promise(resolve => setTimeout(resolve, 150));
      // The one before goes while people talk to it: what it began goes on with a compatible one, or is ended.
      const old = version - 1;
      const gone = client
        .call('undeploy_agent', { agentId, version: old, endConversations: true })
        .then(({ status }) => {
          if (status !== 200) complaints.push(`version ${old} was not undeployed: ${status}`);
          lives.get(old)!.to = performance.now();
        });
      others.push(gone);
      await gone;
      await new Promise(resolve => setTimeout(resolve, 100));
    }
    isOver = true;
    await Promise.all([...talking, ...others]);

    expect(complaints).toEqual([]);
    expect(answers).toBeGreaterThan(TALKERS * CHANGES.length);
    // Only the last chain is deployed: what runs on goes on with it.
    const last = CHANGES.at(-1)!.version;
    const running = await platform.platform.store.db
      .selectFrom('conversations')
      .select('agent_version')
      .where('agent_id', '=', agentId)
      .where('state', 'not in', ['ENDED', 'AWAITING_HUMAN'])
      .execute();
    for (const { agent_version: version } of running) expect(followed.get(version)).toBe(followed.get(last));
    expect(platform.logLines().filter(({ level }) => level === 'error')).toEqual([]);
  });
});

/** An agent whose version says its number. */
async function build(client: Client) {
  const rules = await client.call('create_resource', {
    resourceType: 'behavior',
    config: JSON.stringify(alwaysSays),
  });
  const output = await client.call('create_resource', {
    resourceType: 'output',
    config: JSON.stringify(says('version 1')),
  });
  const workflow = await client.call('create_document', {
    type: 'workflow',
    body: {
      workflowSteps: [
        { type: 'parser' },
        { type: 'rules', config: { uri: rules.resourceUri } },
        { type: 'output', config: { uri: output.resourceUri } },
      ],
    },
  });
  const { agentId } = await client.call('create_agent', { name: 'Changing', workflowUris: workflow.uri });
  return {
    agentId,
    async addVersion(version: number, compatible: boolean): Promise<void> {
      const { resourceUri } = await client.call('update_resource', {
        resourceType: 'output',
        resourceId: output.resourceId,
        version: version - 1,
        config: JSON.stringify(says(`version ${version}`)),
      });
      const oldUri = `patchbay://output/${output.resourceId}?version=${version - 1}`;
      const { newAgentVersion } = await client.call('apply_agent_changes', {
        agentId,
        agentVersion: version - 1,
        resourceMappings: JSON.stringify([{ oldUri, newUri: resourceUri }]),
        compatible,
      });
      expect(newAgentVersion).toBe(version);
    },
  };
}
