import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@patchbay/contract/client';
import { startPlatformProcess } from '@patchbay/testing/platform-process';
import { callingAgent } from '../httpcalls/calling-agent.ts';
import { startFaultServer } from '../httpcalls/fault-server.ts';

export interface PauseTrial {
  /** Approvals the platform had confirmed before it died. */
  readonly approved: number;
  /** Of these, turns whose end nobody had seen when it died. */
  readonly underWay: number;
  /** Calls that reached the server. */
  readonly received: number;
  /** Where a turn did not go on, or went on twice; empty when every approval did its work once. */
  readonly complaints: readonly string[];
}

const AGENT = 'pays';
/** A lease of a node that died ends after 15 seconds, and somebody looks every 3. */
const GO_ON_WITHIN_MS = 40_000;

interface Conversation {
  readonly index: number;
  readonly conversationId: string;
  /** Messages whose approval was confirmed. */
  readonly approved: string[];
  /** Messages that had gone on, as somebody saw. */
  readonly seen: string[];
  last: string;
}

/**
 * Starts the real command, has an agent wait for a person in several conversations at once, approves and lets it go on with a call
 * that counts, kills the process without a warning, and lets a restart go on, or with `other` the second node, which has been there
 * all the time. Then each confirmed approval has to have led to one call and one stored turn, and nothing may be stuck.
 */
export async function pauseTrial(options: {
  readonly dataDir: string;
  readonly databaseUrl?: string | undefined;
  readonly conversations: number;
  /** Milliseconds of talking before the kill. */
  readonly killAfterMs: number;
  /** Goes on with another node instead of a restart. */
  readonly other?: boolean;
}): Promise<PauseTrial> {
  await using server = await startFaultServer();
  const start = (dataDir: string) =>
    startPlatformProcess({ ...options, dataDir, env: { PATCHBAY_EGRESS_PRIVATE_HOSTS: '127.0.0.1' } });
  const otherDir = await mkdtemp(join(tmpdir(), 'patchbay-other-'));
  const first = await start(options.dataDir);
  await first.client.call('deploy_agent_file', { file: agentFile(server.url) });
  const second = options.other ? await start(otherDir) : undefined;
  const spoken = await Promise.all(
    Array.from({ length: options.conversations }, async (_, index): Promise<Conversation> => {
      const { conversationId } = await first.client.call('create_conversation', { agentId: AGENT });
      return { index, conversationId, approved: [], seen: [], last: '' };
    }),
  );
  const talking = Promise.allSettled(
    spoken.map(conversation => payAgainAndAgain(first.client, conversation)),
  );
  await new Promise(resolve => setTimeout(resolve, options.killAfterMs));
  first.process.kill('SIGKILL');
  await once(first.process, 'exit');
  await talking;
  const approved = spoken.reduce((sum, conversation) => sum + conversation.approved.length, 0);
  const seen = spoken.reduce((sum, conversation) => sum + conversation.seen.length, 0);

  const { process, client } = second ?? (await start(options.dataDir));
  const complaints: string[] = [];
  for (const conversation of spoken) {
    const state = await restingState(client, conversation.conversationId);
    complaints.push(...(await compare(client, conversation, server.requests)));
    complaints.push(...(await takesNext(client, conversation, state)));
  }
  const { count } = await client.call('list_pending_approvals', {});
  if (count !== 0) complaints.push(`${count} approvals are left`);
  process.kill('SIGTERM');
  const [code] = await once(process, 'exit');
  if (code !== 0) complaints.push(`the platform that went on ended with ${code}`);
  await rm(otherDir, { recursive: true, force: true });
  return { approved, underWay: approved - seen, received: server.requests.length, complaints };
}

/** Waits for a person in its rules, and calls after that. */
function agentFile(url: string) {
  const file = callingAgent(AGENT, url, [
    {
      name: 'pay',
      actions: ['pay'],
      request: { method: 'POST', path: '/later/pay', body: '{"said": "{{ input }}"}' },
    },
  ]);
  return {
    ...file,
    rules: {
      expressionsAsActions: true,
      behaviorGroups: [
        {
          name: 'ask',
          rules: [
            {
              name: 'ask',
              actions: ['speak', 'PAUSE_CONVERSATION'],
              conditions: [{ type: 'inputmatcher', configs: { expressions: 'pay' } }],
            },
          ],
        },
      ],
    },
  };
}

async function payAgainAndAgain(client: Client, conversation: Conversation): Promise<never> {
  const { conversationId, index } = conversation;
  for (let count = 1; ; count += 1) {
    conversation.last = `pay ${'x'.repeat(count % 20)} c${index}m${count}`;
    const message = conversation.last;
    await client.call('talk_to_agent', { agentId: AGENT, conversationId, message });
    await client.call('resume_conversation', { conversationId, verdict: 'APPROVED' });
    conversation.approved.push(message);
    const state = await restingState(client, conversationId);
    if (state !== 'READY') throw new Error(`${conversationId} is ${state} after an approval`);
    conversation.seen.push(message);
  }
}

/** Of a conversation in which nothing is under way any more. */
async function restingState(client: Client, conversationId: string): Promise<string> {
  for (const deadline = Date.now() + GO_ON_WITHIN_MS; ; ) {
    const { conversationState } = await client.call('read_conversation', { conversationId });
    if (conversationState !== 'IN_PROGRESS' || Date.now() > deadline) return conversationState;
    await new Promise(resolve => setTimeout(resolve, 10));
  }
}

async function compare(
  client: Client,
  { conversationId, approved, last }: Conversation,
  requests: readonly { readonly body: string }[],
): Promise<string[]> {
  const complaints: string[] = [];
  const { conversationOutputs = [], conversationState } = await client.call('read_conversation', {
    conversationId,
    currentStepOnly: false,
  });
  if (conversationState === 'IN_PROGRESS') complaints.push(`${conversationId} is stuck`);
  const stored = conversationOutputs.filter(({ input }) => input !== undefined);
  const inputs = stored.map(({ input }) => input!);
  const expected = inputs.at(-1) === last && approved.at(-1) !== last ? [...approved, last] : approved;
  if (inputs.join() !== expected.join())
    complaints.push(
      `${conversationId}: stored ${JSON.stringify(inputs)}, approved ${JSON.stringify(approved)}`,
    );
  for (const output of stored) {
    const message = output.input!;
    const times = requests.filter(({ body }) => body.includes(`"${message}"`)).length;
    const told = output.output?.[0]?.text ?? '';
    const where = `${message}: ${times} calls, told ${told}, ${output.hitlDecision}`;
    if (times > 1) complaints.push(`called twice: ${where}`);
    if (output.hitlDecision === undefined) {
      if (message !== last || conversationState !== 'AWAITING_HUMAN')
        complaints.push(`not gone on: ${where}`);
      if (times > 0) complaints.push(`called without approval: ${where}`);
      continue;
    }
    const isUnknown = told.includes('OUTCOME_UNKNOWN');
    if (times === 0 && !isUnknown) complaints.push(`approved and not called: ${where}`);
    if (!isUnknown && !told.includes('"ok":true')) complaints.push(`said wrongly: ${where}`);
  }
  return complaints;
}

/** A conversation that waited waits still; one that had gone on takes the next message. */
async function takesNext(client: Client, { conversationId }: Conversation, state: string): Promise<string[]> {
  if (state !== 'AWAITING_HUMAN') {
    const message = 'pay once more';
    const { status } = await client.call('talk_to_agent', { agentId: AGENT, conversationId, message });
    if (status !== 'PAUSED_FOR_APPROVAL')
      return [`${conversationId}: ${status} where it was to ask for approval`];
  }
  await client.call('resume_conversation', { conversationId, verdict: 'APPROVED' });
  const next = await restingState(client, conversationId);
  return next === 'READY' ? [] : [`${conversationId}: ${next} after the last approval`];
}
