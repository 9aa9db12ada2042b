import { setTimeout as wait } from 'node:timers/promises';
import type { Client } from '@patchbay/contract/client';
import { type SeenRequest, startScriptedModel } from '@patchbay/testing/scripted-model';
import type { ScriptedAnswer } from '@patchbay/testing/scripted-model/wire';
import { startToolServer } from '../mcpcalls/tool-server.ts';

export const CAREFUL = 'careful';
const SERVER = 'tools';
/** The calls of one answer that a person must approve. */
export const CALLS = ['first', 'second'] as const;

export type Args = Readonly<Record<string, unknown>>;

/** A scripted model and a server of tools that counts, for an agent whose calls a person must approve. */
export interface CarefulWorld extends AsyncDisposable {
  /** Arguments of the calls that reached the server, which a person had to approve. */
  readonly arrived: readonly Args[];
  /** Registers the server and deploys the agent, whose model calls twice what must be approved when it hears "do", and says as JSON what it was told. */
  prepare(client: Client): Promise<void>;
}

/** What happens in it is told: a call has arrived, or the model is asked with what calls answered. */
export async function startCarefulWorld(
  told: { readonly onArrival?: (args: Args) => void; readonly onAnswered?: () => void } = {},
): Promise<CarefulWorld> {
  const arrived: Args[] = [];
  const server = await startToolServer('modern', {
    careful: {
      async answer(args) {
        arrived.push(args);
        told.onArrival?.(args);
        // Some time after it arrived, so that its caller may die meanwhile.
        await wait(JSON.stringify(args).length % 10);
        return { content: [{ type: 'text', text: 'done' }] };
      },
    },
  });
  const model = await startScriptedModel(request => answerTo(request, told.onAnswered));
  return {
    arrived,
    async prepare(client) {
      const options = { url: server.url, gated: ['careful'] };
      await client.call('add_server', { name: SERVER, options, wait: true });
      const parameters = { model: 'any', baseUrl: model.baseUrl('chat-completions') };
      const task = { id: 'main', type: 'openai-compatible', parameters, mcpServers: [SERVER] };
      const file = { agent: CAREFUL, name: 'Careful', llm: { tasks: [task] } };
      await client.call('deploy_agent_file', { file });
    },
    async [Symbol.asyncDispose]() {
      await model[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** Looks first, then calls twice what a person must approve, then says word for word what it was told. */
function answerTo({ messages }: SeenRequest, onAnswered: (() => void) | undefined): ScriptedAnswer {
  const at = messages.findLastIndex(({ role }) => role === 'user');
  const said = messages[at] as { readonly text: string };
  if (!said.text.startsWith('do ')) return { text: 'Yes.' };
  const results = messages.slice(at).flatMap(message => (message.role === 'tool' ? [message.text] : []));
  if (results.length > 0) {
    onAnswered?.();
    return { text: JSON.stringify(results) };
  }
  const calls = CALLS.map(call => ({
    ...{ id: call, name: `${SERVER}__careful` },
    input: { said: said.text, call, amount: said.text.length * 7 },
  }));
  return {
    text: 'I will see to it.',
    calls: [{ id: 'look', name: `${SERVER}__tells`, input: {} }, ...calls],
  };
}

/** The arguments of each call that waits, by its name, as they are shown to whoever decides. */
export async function shownCalls(
  client: Client,
  conversationId: string,
): Promise<Readonly<Record<string, Args>>> {
  const { pendingToolCalls = [] } = await client.call('get_approval_status', { conversationId });
  const shown = pendingToolCalls.map(({ argumentsRedacted }) => JSON.parse(argumentsRedacted) as Args);
  return Object.fromEntries(shown.map(args => [args.call, args]));
}

export function talkToCareful(client: Client, conversationId: string, message: string) {
  return client.call('talk_to_agent', { agentId: CAREFUL, conversationId, message });
}
