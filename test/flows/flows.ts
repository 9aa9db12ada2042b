import { expect } from 'vitest';
import type { Surface } from './surfaces.ts';
import { says } from './texts.ts';

type Call = Surface['call'];

/** A row of the table of flows: what is done, in order, and what it comes to. */
export interface Flow {
  readonly flow: string;
  /**
   * `call` goes through the surface under test, `rest` through REST, for what has no tool. `tag` tells the flow's own things from
   * those of the same flow through another surface.
   */
  run(way: {
    readonly call: Call;
    readonly rest: Call;
    readonly tag: string;
    /** The operator door itself, for an agent that is its client. */
    readonly door: { readonly url: string; readonly key: string };
  }): Promise<void>;
}

/** The flows of platform.md 12.2 that need no model, group or schedule. */
export const FLOWS: readonly Flow[] = [
  {
    flow: 'low-level chat',
    async run({ call }) {
      const { agents } = await call('list_agents');
      const { agentId } = agents.find((agent: { agentId: string }) => agent.agentId === 'demo');
      const { conversationId, conversationUri, environment } = await call('create_conversation', { agentId });
      expect(conversationUri).toContain(conversationId);
      expect(environment).toBe('production');
      const answer = await call('talk_to_agent', { agentId, conversationId, message: 'thanks' });
      expect(answer).toMatchObject({ conversationState: 'READY', actions: ['welcome'] });
      const { log } = await call('read_conversation_log', { conversationId });
      expect(log).toContain('User: thanks');
      expect(log).toContain(answer.agentResponse);
    },
  },
  {
    flow: 'discovery',
    async run({ call, tag }) {
      const intent = `discover ${tag}`;
      const config = JSON.stringify({ intent, agentDeployments: [{ agentId: 'demo' }] });
      await call('create_agent_trigger', { config });
      const { count, agents } = await call('discover_agents', { filter: 'SHOWS AROUND' });
      expect(count).toBe(agents.length);
      const demo = agents.find((agent: { agentId: string }) => agent.agentId === 'demo');
      expect(demo).toMatchObject({ name: 'Demo', status: 'READY', environment: 'production' });
      expect(demo.intents).toContain(intent);
      const { triggers } = await call('list_agent_triggers');
      expect(triggers.map((trigger: { intent: string }) => trigger.intent)).toContain(intent);
      await call('delete_agent_trigger', { intent });
    },
  },
  {
    flow: 'managed chat',
    async run({ call, tag }) {
      const intent = `manage ${tag}`;
      const config = JSON.stringify({ intent, agentDeployments: [{ agentId: 'demo' }] });
      await call('create_agent_trigger', { config });
      const chat = (userId: string) => call('chat_managed', { intent, userId, message: 'hello' });
      const [first, second, other] = [await chat('ann'), await chat('ann'), await chat('bob')];
      expect(second.conversationId).toBe(first.conversationId);
      expect(other.conversationId).not.toBe(first.conversationId);
    },
  },
  {
    flow: 'inspection',
    async run({ call, rest, tag }) {
      const { agentId, outputId } = await buildAgent({ call, rest, tag, text: 'Look at me.' });
      const { workflowCount, workflows } = await call('list_agent_resources', { agentId });
      expect(workflowCount).toBe(1);
      const output = workflows[0].extensions.find(
        (extension: { resourceType?: string }) => extension.resourceType === 'output',
      );
      expect(output.resourceId).toBe(outputId);
      const { resourceType, resourceId } = output;
      const { configuration } = await call('read_resource', { resourceType, resourceId });
      expect(configuration).toMatchObject(says('Look at me.'));
    },
  },
  {
    flow: 'change and cascade',
    async run({ call, rest, tag }) {
      const { agentId, outputId } = await buildAgent({ call, rest, tag, text: 'Before.' });
      await call('deploy_agent', { agentId, version: 1 });
      const { version } = await call('read_resource', { resourceType: 'output', resourceId: outputId });
      const changed = await change({ call, agentId, outputId, version, text: 'After.' });
      expect(changed).toMatchObject({ newAgentVersion: 2, mappingsApplied: 1, redeployed: true });
      expect(await call('get_deployment_status', { agentId, version: 2 })).toMatchObject({ status: 'READY' });
      expect((await call('chat_with_agent', { agentId, message: 'x' })).agentResponse).toContain('After.');
    },
  },
  {
    flow: 'debugging',
    async run({ call }) {
      const { conversationId } = await call('chat_with_agent', { agentId: 'demo', message: 'hello' });
      const logs = await call('read_agent_logs', { conversationId });
      expect(logs).toMatchObject({ conversationId, limit: 50 });
      expect(logs.count).toBe(logs.entries.length);
      const { entries } = await call('read_audit_trail', { conversationId, limit: 200 });
      // Newest first, one for each step of each turn.
      expect(entries[0]).toMatchObject({
        conversationId,
        agentId: 'demo',
        stepIndex: 1,
        taskType: 'templating',
      });
      expect(entries.at(-1)).toMatchObject({ stepIndex: 0, taskType: 'parser' });
      for (const { durationMs } of entries) expect(durationMs).toBeGreaterThanOrEqual(0);
    },
  },
  {
    flow: 'orphaned intent',
    async run({ call, tag }) {
      const intent = `orphan ${tag}`;
      const config = JSON.stringify({ intent, agentDeployments: [{ agentId: 'demo' }] });
      await call('create_agent_trigger', { config });
      const chat = () => call('chat_managed', { intent, userId: 'ann', message: 'hello' });
      const { conversationId } = await chat();
      await call('delete_agent_trigger', { intent });
      await expect(chat()).rejects.toThrow('There is no agent trigger for the intent');
      const { log } = await call('read_conversation_log', { conversationId });
      expect(log).toContain('User: hello');
    },
  },
  {
    flow: 'a whole life: built, talked to, looked into, changed, rolled back, approved, undone, undeployed, deleted',
    async run({ call, rest, tag }) {
      const { agentId, outputId } = await buildAgent({ call, rest, tag, text: 'One.' });
      await call('deploy_agent', { agentId, version: 1 });
      const say = (message: string, conversationId?: string) =>
        call('chat_with_agent', { agentId, message, ...(conversationId && { conversationId }) });
      const old = (await say('hello')).conversationId;

      await change({ call, agentId, outputId, version: 1, text: 'Two.' });
      expect((await say('hello')).agentResponse).toContain('Two.');
      expect((await say('hello', old)).agentResponse).toContain('One.');

      // Back to what it was: the version before runs still, and gets the new conversations again.
      const back = await call('undeploy_agent', { agentId, version: 2, endConversations: true });
      expect(back).toMatchObject({ action: 'undeployed', status: 200 });
      const { conversationId, agentResponse } = await say('hello');
      expect(agentResponse).toContain('One.');

      const paused = await say('pay', conversationId);
      expect(paused).toMatchObject({ status: 'PAUSED_FOR_APPROVAL', suggestNextTool: 'resume_conversation' });
      const { approvals } = await call('list_pending_approvals');
      expect(approvals).toContainEqual(expect.objectContaining({ conversationId, agentId }));
      const { pauseId } = await call('get_approval_status', { conversationId });
      expect(
        await call('resume_conversation', { conversationId, verdict: 'APPROVED', pauseId }),
      ).toMatchObject({
        status: 'RESUMED',
      });
      const state = async () => (await call('read_conversation', { conversationId })).conversationState;
      await expect.poll(state, { timeout: 20_000 }).toBe('READY');
      const inputs = async () => {
        const read = await call('read_conversation', { conversationId, currentStepOnly: false });
        return read.conversationOutputs.flatMap(({ input }: { input?: string }) => input ?? []);
      };
      expect(await inputs()).toEqual(['hello', 'pay']);

      await rest('undo_turn', { conversationId });
      expect(await inputs()).toEqual(['hello']);
      await rest('redo_turn', { conversationId });
      expect(await inputs()).toEqual(['hello', 'pay']);

      expect(await call('undeploy_agent', { agentId, version: 1 })).toMatchObject({ status: 409 });
      const ended = await call('undeploy_agent', { agentId, version: 1, endConversations: true });
      expect(ended).toMatchObject({ status: 200, endedConversations: true });
      expect(await state()).toBe('ENDED');
      await expect(say('hello')).rejects.toThrow('is not deployed');
      const deleted = await call('delete_agent', { agentId, version: 2, cascade: true, permanent: true });
      expect(deleted).toMatchObject({ action: 'deleted' });
      expect(await inputs()).toEqual(['hello', 'pay']);
    },
  },
  {
    flow: 'MCP client loop',
    async run({ call, rest, tag, door }) {
      const id = `loop-${tag.replace(/[^a-z]+/gi, '-').toLowerCase()}`;
      await rest('put_secret', { name: `${id}-key`, value: door.key });
      const config = {
        mcpServerUrl: door.url,
        apiKey: `\${vault:${id}-key}`,
        toolsWhitelist: ['list_docs', 'read_docs'],
        mcpCalls: [
          { name: 'list', actions: ['list'], toolName: 'list_docs', responseObjectName: 'all' },
          { name: 'read', actions: ['read'], toolName: 'read_docs', responseObjectName: 'one' },
          { name: 'chat', actions: ['chat'], toolName: 'list_agents', responseObjectName: 'none' },
        ].map(made => ({ ...made, toolArguments: made.name === 'read' ? { name: 'keys' } : {} })),
      };
      const text =
        '{{ mcpCalls.all.docs | join: " " }}{{ mcpCalls.one.markdown }}{{ mcpCalls.noneError.code }}';
      await rest('deploy_agent_file', {
        file: {
          agent: id,
          name: id,
          dictionary: { words: ['list', 'read', 'chat'].map(word => ({ word, expressions: word })) },
          rules: {
            expressionsAsActions: true,
            behaviorGroups: [{ name: 'all', rules: [{ name: 'say', actions: ['say'] }] }],
          },
          mcpcalls: config,
          output: {
            outputSet: [{ action: 'say', outputs: [{ valueAlternatives: [{ type: 'text', text }] }] }],
          },
        },
      });
      const { configuration } = await call('read_resource', { resourceType: 'mcpcalls', resourceId: id });
      expect(configuration).toMatchObject({ mcpServerUrl: door.url, apiKey: config.apiKey });
      const { conversationId } = await call('create_conversation', { agentId: id });
      const say = async (message: string) =>
        (await call('talk_to_agent', { agentId: id, conversationId, message })).agentResponse;
      expect(await say('list')).toContain('getting-started');
      expect(await say('read')).toMatch(/^# /);
      expect(await say('chat')).toBe('TOOL_NOT_FOUND');
    },
  },
];

/** An agent of its own that answers everything with one text, and waits for a person before it answers "pay". */
async function buildAgent(options: { call: Call; rest: Call; tag: string; text: string }) {
  const { call, rest, tag, text } = options;
  const rules = await call('create_resource', { resourceType: 'behavior', config: JSON.stringify(RULES) });
  const output = await call('create_resource', {
    resourceType: 'output',
    config: JSON.stringify(says(text)),
  });
  const dictionary = await call('create_resource', {
    resourceType: 'dictionaries',
    config: JSON.stringify({ words: [{ word: 'pay', expressions: 'pay' }] }),
  });
  // Workflows have no tool that makes them.
  const workflow = await rest('create_document', {
    type: 'workflow',
    name: `workflow ${tag}`,
    body: {
      workflowSteps: [
        {
          type: 'eddi://ai.labs.parser',
          extensions: {
            dictionaries: [
              {
                type: 'eddi://ai.labs.parser.dictionaries.regular',
                config: { uri: dictionary.resourceUri },
              },
            ],
          },
        },
        { type: 'eddi://ai.labs.behavior', config: { uri: rules.resourceUri } },
        { type: 'eddi://ai.labs.output', config: { uri: output.resourceUri } },
        { type: 'eddi://ai.labs.templating' },
      ],
    },
  });
  const agent = await call('create_agent', { name: `Agent ${tag}`, workflowUris: workflow.uri });
  return { agentId: agent.agentId as string, outputId: output.resourceId as string };
}

const RULES = {
  behaviorGroups: [
    {
      name: 'answers',
      rules: [
        {
          name: 'pays',
          actions: ['answer', 'PAUSE_CONVERSATION'],
          conditions: [{ type: 'inputmatcher', configs: { expressions: 'pay' } }],
        },
        { name: 'says', actions: ['answer'] },
      ],
    },
  ],
};

/** The next version of the output, put into the agent and deployed. */
async function change(options: {
  call: Call;
  agentId: string;
  outputId: string;
  version: number;
  text: string;
}) {
  const { call, agentId, outputId, version, text } = options;
  const { resourceUri } = await call('update_resource', {
    resourceType: 'output',
    resourceId: outputId,
    version,
    config: JSON.stringify(says(text)),
  });
  const oldUri = `patchbay://output/${outputId}?version=${version}`;
  return call('apply_agent_changes', {
    agentId,
    agentVersion: version,
    resourceMappings: JSON.stringify([{ oldUri, newUri: resourceUri }]),
    redeploy: true,
  });
}
