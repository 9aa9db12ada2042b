import { once } from 'node:events';
import type { Client } from '@patchbay/contract/client';
import { startPlatformProcess } from '@patchbay/testing/platform-process';
import { CALLS, type CallName, type CountingWorld, WORLDS } from './counting-worlds.ts';

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
  /** What the agent calls; HTTP unless it is said. */
  readonly world?: keyof typeof WORLDS | undefined;
  /** Milliseconds of talking before the kill. */
  readonly killAfterMs: number;
}): Promise<EffectTrial> {
  await using world = await WORLDS[options.world ?? 'HTTP calls']();
  const start = () =>
    startPlatformProcess({ ...options, env: { PATCHBAY_EGRESS_PRIVATE_HOSTS: '127.0.0.1' } });
  const first = await start();
  await first.client.call('deploy_agent_file', { file: world.agentFile(AGENT) });
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
    const told = await toldBy(second.client, conversation.conversationId, world);
    unknown += told.filter(({ code }) => code === 'OUTCOME_UNKNOWN').length;
    complaints.push(...compare(conversation, told, world));
    const next = await talk(second.client, conversation.conversationId, messageOf(conversation.index, 0));
    if (next !== 'READY') complaints.push(`conversation ${conversation.index}: ${next} after the restart`);
  }
  second.process.kill('SIGTERM');
  const [code] = await once(second.process, 'exit');
  if (code !== 0) complaints.push(`the restarted platform ended with ${code}`);
  const acknowledged = spoken.reduce((sum, conversation) => sum + conversation.acknowledged, 0);
  return { acknowledged, received: world.count, unknown, complaints };
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
  readonly call: CallName;
  readonly done: boolean;
  readonly code: string | undefined;
}

/** What a conversation tells of its calls when nothing of it is under way any more. */
async function toldBy(client: Client, conversationId: string, world: CountingWorld): Promise<ToldCall[]> {
  for (const deadline = Date.now() + TAKE_UP_MS; ; ) {
    const { conversationState, conversationOutputs = [] } = await client.call('read_conversation', {
      conversationId,
      currentStepOnly: false,
    });
    if (conversationState !== 'IN_PROGRESS') {
      return conversationOutputs.flatMap(({ input, output }) =>
        input === undefined ? [] : toldOf(world, input, output?.[0]?.text),
      );
    }
    if (Date.now() > deadline) throw new Error(`${conversationId} is still in progress`);
    await new Promise(resolve => setTimeout(resolve, 100));
  }
}

function toldOf({ isDone }: CountingWorld, message: string, text = '{}'): ToldCall[] {
  const calls = JSON.parse(text) as Record<string, unknown>;
  return CALLS.map(call => ({
    message,
    call,
    done: isDone(calls[call]),
    code: (calls[`${call}Error`] as { readonly code?: string } | undefined)?.code,
  }));
}

function compare(
  conversation: { readonly index: number; readonly acknowledged: number },
  told: readonly ToldCall[],
  { received }: CountingWorld,
): string[] {
  const complaints: string[] = [];
  const { index, acknowledged } = conversation;
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
