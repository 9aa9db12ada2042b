import { once } from 'node:events';
import type { Client } from '@patchbay/contract/client';
import { startPlatformProcess } from '@patchbay/testing/platform-process';
import { callingAgent } from '../httpcalls/calling-agent.ts';
import { startFaultServer } from '../httpcalls/fault-server.ts';

export interface EffectTrial {
  /** Messages the platform had answered before it died. */
  readonly acknowledged: number;
  /** Calls that reached the server. */
  readonly received: number;
  /** Calls of which the conversations say that nobody knows what came of them. */
  readonly unknown: number;
  /** Where the conversations and the server do not agree; empty when nothing was done twice, lost or said wrongly. */
  readonly complaints: readonly string[];
}

const AGENT = 'effects';
/** In the order they are made, each with an effect. */
const CALLS = ['first', 'second'] as const;
/** A turn that was cut off is taken up a few seconds after the start. */
const TAKE_UP_MS = 30_000;

/**
 * Starts the real command and a server that counts, has an agent make two calls a turn in several conversations at once, kills the
 * process without a warning, starts it again on the same data, lets it go on with what it broke off, and compares: no call reached
 * the server twice, every call that reached it is in its conversation, and a call is said to be done exactly when the server has it.
 */
export async function effectTrial(options: {
  readonly dataDir: string;
  readonly databaseUrl?: string | undefined;
  readonly conversations: number;
  /** Milliseconds of talking before the kill. */
  readonly killAfterMs: number;
}): Promise<EffectTrial> {
  await using server = await startFaultServer();
  const start = () =>
    startPlatformProcess({ ...options, env: { PATCHBAY_EGRESS_PRIVATE_HOSTS: '127.0.0.1' } });
  const first = await start();
  await first.client.call('deploy_agent_file', { file: agentFile(server.url) });
  const spoken = await Promise.all(
    Array.from({ length: options.conversations }, async (_, index) => {
      const { conversationId } = await first.client.call('create_conversation', { agentId: AGENT });
      return { index, conversationId, acknowledged: 0 };
    }),
  );
  const talking = Promise.allSettled(
    spoken.map(async conversation => {
      for (let count = 1; ; count += 1) {
        await talk(first.client, conversation.conversationId, messageOf(conversation.index, count));
        conversation.acknowledged = count;
      }
    }),
  );
  await new Promise(resolve => setTimeout(resolve, options.killAfterMs));
  first.process.kill('SIGKILL');
  await once(first.process, 'exit');
  await talking;

  const second = await start();
  const complaints: string[] = [];
  let unknown = 0;
  for (const conversation of spoken) {
    const told = await toldBy(second.client, conversation.conversationId);
    unknown += told.filter(({ code }) => code === 'OUTCOME_UNKNOWN').length;
    complaints.push(...compare(conversation, told, server.requests));
    const next = await talk(second.client, conversation.conversationId, messageOf(conversation.index, 0));
    if (next !== 'READY') complaints.push(`conversation ${conversation.index}: ${next} after the restart`);
  }
  second.process.kill('SIGTERM');
  const [code] = await once(second.process, 'exit');
  if (code !== 0) complaints.push(`the restarted platform ended with ${code}`);
  const acknowledged = spoken.reduce((sum, conversation) => sum + conversation.acknowledged, 0);
  return { acknowledged, received: server.requests.length, unknown, complaints };
}

function agentFile(url: string) {
  const calls = CALLS.map((name, index) => ({
    name,
    actions: ['do'],
    responseObjectName: name,
    request: {
      method: index === 0 ? 'POST' : 'PUT',
      path: `/later/${name}`,
      body: '{"said": "{{ input }}"}',
    },
  }));
  return { ...callingAgent(AGENT, url, calls), dictionary: { words: [{ word: 'do', expressions: 'do' }] } };
}

function messageOf(conversation: number, count: number): string {
  return `do ${'x'.repeat(count % 20)} c${conversation}m${count}`;
}

async function talk(client: Client, conversationId: string, message: string): Promise<string | undefined> {
  const { conversationState, status } = await client.call('talk_to_agent', {
    agentId: AGENT,
    conversationId,
    message,
  });
  return status ?? conversationState;
}

/** A call as its conversation tells of it. */
interface ToldCall {
  readonly message: string;
  readonly call: (typeof CALLS)[number];
  readonly done: boolean;
  readonly code: string | undefined;
}

/** What a conversation tells of its calls when nothing of it is under way any more. */
async function toldBy(client: Client, conversationId: string): Promise<ToldCall[]> {
  for (const deadline = Date.now() + TAKE_UP_MS; ; ) {
    const { conversationState, conversationOutputs = [] } = await client.call('read_conversation', {
      conversationId,
      currentStepOnly: false,
    });
    if (conversationState !== 'IN_PROGRESS') {
      return conversationOutputs.flatMap(({ input, output }) =>
        input === undefined ? [] : toldOf(input, output?.[0]?.text),
      );
    }
    if (Date.now() > deadline) throw new Error(`${conversationId} is still in progress`);
    await new Promise(resolve => setTimeout(resolve, 100));
  }
}

function toldOf(message: string, text = '{}'): ToldCall[] {
  const calls = JSON.parse(text) as Record<
    string,
    { readonly ok?: boolean; readonly code?: string } | undefined
  >;
  return CALLS.map(call => ({
    message,
    call,
    done: calls[call]?.ok === true,
    code: calls[`${call}Error`]?.code,
  }));
}

function compare(
  conversation: { readonly index: number; readonly acknowledged: number },
  told: readonly ToldCall[],
  requests: readonly { readonly path: string; readonly body: string }[],
): string[] {
  const complaints: string[] = [];
  const { index, acknowledged } = conversation;
  const received = (message: string, call: string) =>
    requests.filter(({ path, body }) => path === `/later/${call}` && body.includes(`"${message}"`)).length;
  for (let count = 1; count <= acknowledged + 1; count += 1) {
    const message = messageOf(index, count);
    for (const call of CALLS) {
      const times = received(message, call);
      const entries = told.filter(entry => entry.message === message && entry.call === call);
      const where = `${message}, ${call}: received ${times}, told ${JSON.stringify(entries)}`;
      if (times > 1) complaints.push(`twice: ${where}`);
      if (entries.length > 1) complaints.push(`told twice: ${where}`);
      const [entry] = entries;
      if (count <= acknowledged && !entry?.done) complaints.push(`acknowledged and not done: ${where}`);
      if (times === 1 && !entry) complaints.push(`lost: ${where}`);
      if (entry?.done && times !== 1) complaints.push(`said to be done: ${where}`);
      if (entry && !entry.done && entry.code !== 'OUTCOME_UNKNOWN') complaints.push(`said wrongly: ${where}`);
    }
  }
  return complaints;
}
