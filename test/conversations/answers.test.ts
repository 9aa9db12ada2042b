import { OPERATIONS } from '@patchbay/contract/operations';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTriggers } from '../../packages/server/src/agents/trigger/triggers.ts';
import { systemClock } from '../../packages/server/src/kernel/clock.ts';
import { deployAgentFile } from '../../packages/server/src/operations/agents/deploy_agent_file.ts';
import { discoverAgents } from '../../packages/server/src/operations/agents/discover_agents.ts';
import { getAgent } from '../../packages/server/src/operations/agents/get_agent.ts';
import { listAgentConfigs } from '../../packages/server/src/operations/agents/list_agent_configs.ts';
import { listAgents } from '../../packages/server/src/operations/agents/list_agents.ts';
import { plainCall } from '../../packages/server/src/operations/bind.ts';
import { createConversation } from '../../packages/server/src/operations/conversation/create_conversation.ts';
import { listConversations } from '../../packages/server/src/operations/conversation/list_conversations.ts';
import { readConversationLog } from '../../packages/server/src/operations/conversation/read_conversation_log.ts';
import { ann, helloFile, type Rig, say, startRig } from './setup.ts';

/** Records as the wire names their members: what clients of the seeds read. */
describe('an operation answers', () => {
  let rig: Rig;
  beforeEach(async () => {
    rig = await startRig('sqlite');
    await rig.agentFiles.deploy(ann, await helloFile({ name: 'Hello again' }));
  });
  afterEach(() => rig[Symbol.asyncDispose]());

  const call = plainCall(ann);
  const production = { environment: 'production' } as const;
  const time = expect.any(Number);
  const descriptor = {
    resource: 'patchbay://agent/hello?version=2',
    name: 'Hello again',
    description: expect.stringContaining('coffee'),
    createdBy: 'ann',
    createdOn: time,
    lastModifiedBy: 'ann',
    lastModifiedOn: time,
  };

  /** Nothing but what the definition names. */
  function published(name: string, answer: unknown): unknown {
    const definition = OPERATIONS.find(each => each.name === name)!;
    expect(definition.output.parse(answer)).toEqual(answer);
    return answer;
  }

  it('list_agents', async () => {
    expect(published('list_agents', await listAgents(rig.catalogue)(production, call))).toEqual({
      count: 1,
      agents: [{ ...production, agentId: 'hello', agentVersion: 2, status: 'READY', descriptor }],
    });
  });

  it('discover_agents', async () => {
    const { name, description } = descriptor;
    expect(
      published(
        'discover_agents',
        await discoverAgents(rig.catalogue, createTriggers({ store: rig.store, clock: systemClock }))(
          production,
          call,
        ),
      ),
    ).toEqual({
      count: 1,
      agents: [{ agentId: 'hello', name, description, version: 2, status: 'READY', ...production }],
    });
  });

  it('list_agent_configs', async () => {
    const answer = await listAgentConfigs(rig.catalogue)({ limit: 20 }, call);
    expect(published('list_agent_configs', answer)).toEqual({ count: 1, configs: [descriptor] });
  });

  it('get_agent', async () => {
    const answer = await getAgent(rig.catalogue)({ agentId: 'hello' }, call);
    expect(published('get_agent', answer)).toEqual({
      agentId: 'hello',
      version: 2,
      name: descriptor.name,
      description: descriptor.description,
      configuration: { workflows: ['patchbay://workflow/hello?version=1'] },
    });
  });

  it('deploy_agent_file', async () => {
    const file = await helloFile({ name: 'Hello once more' });
    const answer = await deployAgentFile(rig.agentFiles)({ file }, call);
    expect(published('deploy_agent_file', answer)).toEqual({
      agentId: 'hello',
      agentVersion: 3,
      status: 'READY',
      mcpEnabled: true,
      documents: [
        { resource: 'patchbay://dictionary/hello?version=1', changed: false },
        { resource: 'patchbay://rules/hello?version=1', changed: false },
        { resource: 'patchbay://output/hello?version=1', changed: false },
        { resource: 'patchbay://workflow/hello?version=1', changed: false },
        { resource: 'patchbay://agent/hello?version=3', changed: true },
      ],
    });
  });

  it('create_conversation, list_conversations and read_conversation_log', async () => {
    const created = await createConversation(rig.turns)({ agentId: 'hello', ...production }, call);
    const { conversationId } = created;
    const conversationUri = `patchbay://conversation/${conversationId}`;
    expect(published('create_conversation', created)).toEqual({
      conversationId,
      conversationUri,
      agentId: 'hello',
      ...production,
    });
    await say(rig.turns, { conversationId, input: 'hours' });
    const listed = await listConversations(rig.conversations)({ agentId: 'hello', limit: 10 }, call);
    expect(published('list_conversations', listed)).toEqual({
      agentId: 'hello',
      count: 1,
      conversations: [
        {
          conversationId,
          resource: conversationUri,
          agentName: 'Hello again',
          userId: 'ann',
          agentResource: 'patchbay://agent/hello?version=2',
          conversationStepSize: 2,
          ...production,
          conversationState: 'READY',
          createdOn: time,
          lastModifiedOn: time,
        },
      ],
    });
    const log = await readConversationLog(rig.conversations)({ conversationId, logSize: 1 }, call);
    expect(published('read_conversation_log', log)).toEqual({
      conversationId,
      log: 'User: hours\nAgent: We are open every day from 8 to 18.',
    });
  });
});
