import { type Client, createClient } from '@patchbay/contract/client';
import type { TestPlatform } from '@patchbay/testing/platform';
import { type SeenRequest, startScriptedModel } from '@patchbay/testing/scripted-model';
import type { ScriptedAnswer } from '@patchbay/testing/scripted-model/wire';
import { expect } from 'vitest';
import { type FaultServer, startFaultServer, tool } from '../connections/servers/fault-server.ts';
import { callTool, toolError } from '../doors/wire.ts';

export type Args = Readonly<Record<string, unknown>>;

/** The calls of each answer of the model, by tool and arguments. */
export type Rounds = readonly (readonly (readonly [tool: string, args: Args])[])[];

const NAMED = {
  type: 'object',
  properties: { mark: { type: 'string' }, name: { type: 'string' } },
  required: ['mark'],
};

/** A platform beside a scripted model and a server of tools, for agents whose calls a person must approve. */
export interface ApprovalWorld extends AsyncDisposable {
  readonly platform: TestPlatform;
  readonly client: Client;
  readonly server: FaultServer;
  /** Registers the server anew: `options` besides its address. */
  register(options?: object): Promise<void>;
  /** Deploys an agent with a model that has the tools of the server. */
  deploy(agent: string, more?: { readonly task?: object; readonly file?: object }): Promise<void>;
  /** Says to the agent what makes its model call so, in a new conversation unless one is given. */
  ask(
    agent: string,
    rounds: Rounds,
    conversationId?: string,
  ): Promise<{ conversationId: string; answer: Answer }>;
  /** Asks, and sees that a person is needed. */
  wait(agent: string, rounds: Rounds): Promise<string>;
  status(conversationId: string, detail?: 'summary' | 'full'): Promise<Status>;
  decide(conversationId: string, decision: object): Promise<unknown>;
  /** What the agent said last, once nothing is under way: the model repeats word for word what it was told of its calls. */
  said(conversationId: string): Promise<Said>;
  /** Arguments of calls that reached the server. */
  sent(): Args[];
  /** An operation at the operator door. */
  operate(name: string, args: object, key?: string): Promise<Operated>;
}

type Answer = Awaited<ReturnType<Client['call']>> & Record<string, unknown>;
type Status = Awaited<ReturnType<typeof statusOf>>;
const statusOf = (client: Client, conversationId: string, detail: 'summary' | 'full') =>
  client.call('get_approval_status', { conversationId, detail });

interface Said {
  readonly state: string;
  readonly texts: readonly string[];
  /** What the model was told of its calls in the turn. */
  readonly told: readonly string[];
}

interface Operated {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: an answer may be anything, tests look into it
  readonly result: any;
  readonly error: { readonly errorCode?: string } | undefined;
}

const SERVER = 'shop';

export async function startApprovalWorld(platform: TestPlatform): Promise<ApprovalWorld> {
  const [model, server] = await Promise.all([startScriptedModel(answerTo), startFaultServer('legacy')]);
  const client = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
  server.tools = ['pay', 'look'].map(name => ({
    ...tool(name),
    inputSchema: NAMED,
    ...(name === 'look' && { annotations: { readOnlyHint: true } }),
  }));
  const world: ApprovalWorld = {
    ...{ platform, client, server },
    async register(options = {}) {
      await client.call('add_server', {
        ...{ name: SERVER, replace: true, wait: true },
        options: { url: server.url, gated: ['pay'], ...options },
      });
    },
    async deploy(agent, { task = {}, file = {} } = {}) {
      const parameters = { model: 'any', baseUrl: model.baseUrl('chat-completions') };
      const main = { id: 'main', type: 'openai-compatible', parameters, mcpServers: [SERVER], ...task };
      await client.call('deploy_agent_file', {
        file: { agent, name: agent, mcp_enabled: true, llm: { tasks: [main] }, ...file },
      });
    },
    async ask(agentId, rounds, given) {
      const conversationId = given ?? (await client.call('create_conversation', { agentId })).conversationId;
      const message = messageFor(rounds);
      const answer = await client.call('talk_to_agent', {
        agentId,
        conversationId: conversationId!,
        message,
      });
      return { conversationId: conversationId!, answer: answer as Answer };
    },
    async wait(agent, rounds) {
      const { conversationId, answer } = await world.ask(agent, rounds);
      expect(answer.status, JSON.stringify(answer)).toBe('PAUSED_FOR_APPROVAL');
      return conversationId;
    },
    status: (conversationId, detail = 'summary') => statusOf(client, conversationId, detail),
    decide: (conversationId, decision) =>
      client.call('resume_conversation', { conversationId, verdict: 'APPROVED', ...decision } as never),
    async said(conversationId) {
      const read = () => client.call('read_conversation', { conversationId });
      await expect
        .poll(async () => (await read()).conversationState, { timeout: 30_000 })
        .not.toBe('IN_PROGRESS');
      const { conversationState, conversationOutputs } = await read();
      const texts = (conversationOutputs?.at(-1)?.output ?? []).flatMap(({ text }) => text ?? []);
      const last = texts.at(-1) ?? '';
      return { state: conversationState, texts, told: last.startsWith('[') ? JSON.parse(last) : [] };
    },
    sent: () =>
      server.received.flatMap(({ method, params }) =>
        method === 'tools/call' ? [params.arguments as Args] : [],
      ),
    async operate(name, args, key = platform.operatorKey) {
      const answer = await callTool(platform.operatorUrl, name, args as Record<string, unknown>, { key });
      const result = answer.body.result?.structuredContent;
      return { status: answer.status, result, error: result ? undefined : toolError(answer) };
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([model, server].map(one => one[Symbol.asyncDispose]()));
    },
  };
  await world.register();
  return world;
}

function messageFor(rounds: Rounds): string {
  return `do ${JSON.stringify(rounds)}`;
}

/** Calls as the message says, answer for answer, then says as JSON what it was told of them. */
function answerTo({ messages }: SeenRequest): ScriptedAnswer {
  const at = messages.findLastIndex(({ role }) => role === 'user');
  const said = messages[at] as { readonly text: string };
  if (!said.text.startsWith('do ')) return { text: 'Yes.' };
  const rounds = JSON.parse(said.text.slice(3)) as Rounds;
  const later = messages.slice(at);
  const round = later.filter(({ role }) => role === 'assistant').length;
  const calls = rounds[round] ?? [];
  if (calls.length === 0)
    return { text: JSON.stringify(later.flatMap(message => (message.role === 'tool' ? message.text : []))) };
  return {
    text: `Round ${round}.`,
    calls: calls.map(([name, input], index) => ({
      ...{ id: `call_${round}_${index}`, name: `${SERVER}__${name}`, input },
    })),
  };
}
