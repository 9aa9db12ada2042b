import { type Client, createClient } from '@patchbay/contract/client';
import { startTestPlatform, type TestPlatform, type TestPlatformOptions } from '@patchbay/testing/platform';
import { type ScriptedModel, type SeenRequest, startScriptedModel } from '@patchbay/testing/scripted-model';
import type { ScriptedAnswer, SeenMessage } from '@patchbay/testing/scripted-model/wire';

/** A platform beside a scripted model, and agents that ask it. */
export interface ToolsRig extends AsyncDisposable {
  readonly platform: TestPlatform;
  readonly client: Client;
  readonly model: ScriptedModel;
  /** What a task needs to ask the model. */
  readonly parameters: object;
  /** Registers a server of the default instance, or puts another one in its place. */
  register(name: string, options: object): Promise<void>;
  /** Deploys an agent whose task is this besides the model, and begins a conversation with it. */
  agent(task: object, documents?: object): Promise<Talk>;
  /** The same with a workflow of these documents and the task, in this order. */
  agentOf(
    documents: readonly { readonly type: 'mcpcalls' | 'httpcalls'; readonly body: object }[],
    task?: object,
  ): Promise<Talk>;
}

export interface Talk {
  readonly agentId: string;
  readonly conversationId: string;
  /** Says something to the agent, whose model answers these one after the other. Resolves with what the model was asked. */
  say(...answers: readonly ScriptedAnswer[]): Promise<Asked>;
}

export interface Asked {
  readonly requests: readonly SeenRequest[];
  /** Names of the tools that the model was offered first. */
  readonly offered: readonly string[];
  /** What it was told of its calls, in its last request. */
  readonly told: readonly Extract<SeenMessage, { role: 'tool' }>[];
  readonly response: string;
  readonly answer: Readonly<Record<string, unknown>>;
}

let agents = 0;

export async function startToolsRig(options: TestPlatformOptions = {}): Promise<ToolsRig> {
  const model = await startScriptedModel();
  const platform = await startTestPlatform({
    ...options,
    env: { PATCHBAY_EGRESS_PRIVATE_HOSTS: '127.0.0.1', ...options.env },
  });
  const client = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });

  async function say(
    { agentId, conversationId }: Pick<Talk, 'agentId' | 'conversationId'>,
    answers: readonly ScriptedAnswer[],
  ): Promise<Asked> {
    model.play(answers);
    const answer = await client.call('talk_to_agent', { agentId, conversationId, message: 'Go on.' });
    const { requests } = model;
    return {
      requests,
      offered: requests[0]?.tools.map(({ name }) => name) ?? [],
      told: requests.at(-1)?.messages.filter(message => message.role === 'tool') ?? [],
      response: answer.agentResponse ?? '',
      answer,
    };
  }

  const parameters = { model: 'any', baseUrl: model.baseUrl('chat-completions') };
  const llmOf = (task: object) => ({
    tasks: [{ id: 'main', type: 'openai-compatible', parameters, ...task }],
  });

  async function talkTo(agentId: string): Promise<Talk> {
    const { conversationId } = await client.call('create_conversation', { agentId });
    const talk = { agentId, conversationId: conversationId! };
    return { ...talk, say: (...answers) => say(talk, answers) };
  }

  return {
    ...{ platform, client, model, parameters },
    async register(name, server) {
      const { registry } = platform.platform;
      await registry.add({ instance: 'default', name, options: server, replace: true, by: 'test' });
    },
    async agent(task, documents = {}) {
      agents += 1;
      const agentId = `with-tools-${agents}`;
      const file = { agent: agentId, name: 'Helper', mcp_enabled: true, llm: llmOf(task), ...documents };
      await client.call('deploy_agent_file', { file });
      return talkTo(agentId);
    },
    async agentOf(documents, task = {}) {
      const workflowSteps: object[] = [{ type: 'parser' }];
      for (const { type, body } of [...documents, { type: 'llm', body: llmOf(task) } as const]) {
        const { uri } = await client.call('create_document', { type, body: { ...body } });
        workflowSteps.push({ type, config: { uri } });
      }
      const workflow = await client.call('create_document', { type: 'workflow', body: { workflowSteps } });
      const { agentId } = await client.call('create_agent', { name: 'Helper', workflowUris: workflow.uri });
      await client.call('deploy_agent', { agentId, version: 1 });
      return talkTo(agentId);
    },
    async [Symbol.asyncDispose]() {
      await platform.close();
      await model[Symbol.asyncDispose]();
    },
  };
}
