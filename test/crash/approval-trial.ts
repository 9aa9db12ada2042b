import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Client } from '@patchbay/contract/client';
import { type PlatformProcess, startPlatformProcess } from '@patchbay/testing/platform-process';
import { type Args, CALLS, CAREFUL, shownCalls, startCarefulWorld, talkToCareful } from './careful-world.ts';

/**
 * When the process dies: while turns begin to wait, while people decide, when a decision was confirmed, when an approved call has arrived, or when its
 * answer is known and the model is asked what to make of it.
 */
export const MOMENTS = ['waiting', 'deciding', 'decided', 'sending', 'sent'] as const;
type Moment = (typeof MOMENTS)[number];

export interface ApprovalTrial {
  /** Approvals and rejections that were confirmed before the process died. */
  readonly decided: number;
  /** Approved calls that reached the server. */
  readonly received: number;
  /** Calls of which the model was told that nobody knows what came of them. */
  readonly unknown: number;
  /** Empty when each approved call was made at most once and as it was shown, no other one was made, and all was told as it was. */
  readonly complaints: readonly string[];
}

/** A lease of a node that died ends after 15 seconds, and somebody looks every 3. */
const GO_ON_WITHIN_MS = 60_000;

type Verdict = 'APPROVED' | 'REJECTED';
/** In turn; `undefined` is left alone until the process has died. */
const VERDICTS: readonly (Verdict | undefined)[] = ['APPROVED', 'APPROVED', 'REJECTED', undefined];

interface Conversation {
  readonly conversationId: string;
  readonly message: string;
  /** What is decided before the process dies. */
  readonly verdict: Verdict | undefined;
  /** Of each call, what whoever decides has seen. */
  shown: Readonly<Record<string, Args>>;
  /** Somebody has begun to approve: from now on a call may arrive. */
  isAsked: boolean;
  isConfirmed: boolean;
}

/**
 * Starts the real command beside a scripted model and a server of tools that counts. In several conversations at once a model answers with calls that a
 * person must approve; some are approved, some rejected, some left alone, and the process is killed without a warning at the given moment. A restart
 * goes on, or with `other` the second node, which has been there all the time. What nobody had decided is approved then, and all is compared.
 */
export async function approvalTrial(options: {
  readonly dataDir: string;
  readonly databaseUrl?: string | undefined;
  readonly conversations: number;
  readonly moment: Moment;
  /** Varies the moment: how many calls have arrived, or milliseconds. */
  readonly variation: number;
  readonly other?: boolean;
}): Promise<ApprovalTrial> {
  const complaints: string[] = [];
  const spoken: Conversation[] = [];
  const killing: Killing = { atArrival: () => {}, atAnswer: () => {} };
  await using world = await startCarefulWorld({
    onArrival(args) {
      killing.atArrival();
      if (!spoken.some(({ message, isAsked }) => isAsked && message === args.said))
        complaints.push(`made before anybody approved it: ${JSON.stringify(args)}`);
    },
    onAnswered: () => killing.atAnswer(),
  });
  const start = (dataDir: string) =>
    startPlatformProcess({ ...options, dataDir, env: { PATCHBAY_EGRESS_PRIVATE_HOSTS: '127.0.0.1' } });
  const otherDir = await mkdtemp(join(tmpdir(), 'patchbay-other-'));
  const first = await start(options.dataDir);
  await world.prepare(first.client);
  const second = options.other ? await start(otherDir) : undefined;
  for (let index = 0; index < options.conversations; index += 1)
    spoken.push(await beginConversation(first.client, index));
  await liveUntilKilled(first, spoken, killing, options);
  const decided = spoken.filter(({ isConfirmed }) => isConfirmed).length;

  const { process, client } = second ?? (await start(options.dataDir));
  let unknown = 0;
  for (const conversation of spoken) {
    complaints.push(...(await decideTheRest(client, conversation, world.arrived)));
    const told = await toldBy(client, conversation);
    unknown += told.results.filter(isUnknown).length;
    complaints.push(...compare(conversation, told, world.arrived));
    const { conversationState } = await talkToCareful(client, conversation.conversationId, 'Still there?');
    if (conversationState !== 'READY')
      complaints.push(`${conversation.message}: ${conversationState} in the next turn`);
  }
  const { count } = await client.call('list_pending_approvals', {});
  if (count !== 0) complaints.push(`${count} approvals are left`);
  process.kill('SIGTERM');
  const [code] = await once(process, 'exit');
  if (code !== 0) complaints.push(`the platform that went on ended with ${code}`);
  await rm(otherDir, { recursive: true, force: true });
  return { decided, received: world.arrived.length, unknown, complaints };
}

async function beginConversation(client: Client, index: number): Promise<Conversation> {
  const { conversationId } = await client.call('create_conversation', { agentId: CAREFUL });
  const message = `do ${'x'.repeat(index * 3)} c${index}`;
  const verdict = VERDICTS[index % VERDICTS.length];
  return { conversationId, message, verdict, shown: {}, isAsked: false, isConfirmed: false };
}

/** What happens when a call has arrived, and when the model is asked with what calls answered. */
interface Killing {
  atArrival: () => void;
  atAnswer: () => void;
}

/** Resolves when the process is dead and everybody who talked to it has noticed. */
async function liveUntilKilled(
  { process, client }: PlatformProcess,
  spoken: readonly Conversation[],
  killing: Killing,
  { moment, variation }: { readonly moment: Moment; readonly variation: number },
): Promise<void> {
  const exited = once(process, 'exit');
  const kill = () => void process.kill('SIGKILL');
  if (moment === 'waiting') void wait(variation % 120).then(kill);
  const waiting = spoken.map(async conversation => {
    await talkToCareful(client, conversation.conversationId, conversation.message);
    conversation.shown = await shownCalls(client, conversation.conversationId);
  });
  if (moment === 'waiting') {
    await Promise.allSettled(waiting);
    await exited;
    return;
  }
  await Promise.all(waiting);
  const approved = spoken.filter(({ verdict }) => verdict === 'APPROVED').length;
  const killAt = (most: number) => atNumber(1 + (variation % most), kill);
  if (moment === 'deciding') void wait(variation % 30).then(kill);
  if (moment === 'sending') killing.atArrival = killAt(approved * CALLS.length);
  if (moment === 'sent') killing.atAnswer = killAt(approved);
  const atDecision = moment === 'decided' ? killAt(approved) : () => {};
  await Promise.allSettled(
    spoken.map(async conversation => {
      if (!conversation.verdict) return;
      await decide(client, conversation, conversation.verdict);
      atDecision();
    }),
  );
  await exited;
}

function atNumber(count: number, act: () => void): () => void {
  let left = count;
  return () => {
    left -= 1;
    if (left === 0) act();
  };
}

async function decide(client: Client, conversation: Conversation, verdict: Verdict): Promise<void> {
  conversation.isAsked ||= verdict === 'APPROVED';
  const { conversationId } = conversation;
  await client.call('resume_conversation', { conversationId, verdict, note: 'not today' });
  conversation.isConfirmed = true;
}

/** Whoever got no answer decides again, and what waits still is approved; a message that was never taken is said again. */
async function decideTheRest(
  client: Client,
  conversation: Conversation,
  arrived: readonly Args[],
): Promise<string[]> {
  const { conversationId, message, verdict, isConfirmed } = conversation;
  let state = await restingState(client, conversation);
  const isTaken = (await outputsOf(client, conversation)).some(({ input }) => input === message);
  if (state === 'READY' && !isTaken) {
    await talkToCareful(client, conversationId, message);
    state = await restingState(client, conversation);
  }
  if (state !== 'AWAITING_HUMAN') return [];
  const complaints: string[] = [];
  if (isConfirmed) complaints.push(`${message}: waits although ${verdict} was confirmed`);
  if (arrived.some(({ said }) => said === message)) complaints.push(`${message}: made while it waits`);
  conversation.shown = await shownCalls(client, conversationId);
  await decide(client, conversation, verdict ?? 'APPROVED');
  await restingState(client, conversation);
  return complaints;
}

/** Of a conversation in which nothing is under way any more. */
async function restingState(client: Client, { conversationId }: Conversation): Promise<string> {
  for (const deadline = Date.now() + GO_ON_WITHIN_MS; ; ) {
    const { conversationState } = await client.call('read_conversation', { conversationId });
    if (conversationState !== 'IN_PROGRESS' || Date.now() > deadline) return conversationState;
    await wait(10);
  }
}

async function outputsOf(client: Client, { conversationId }: Conversation) {
  const { conversationOutputs = [] } = await client.call('read_conversation', {
    conversationId,
    currentStepOnly: false,
  });
  return conversationOutputs;
}

/** What a conversation tells of its turn. */
interface Told {
  readonly state: string;
  /** How often the turn is there. */
  readonly turns: number;
  /** What the model was told of each call, the one that needs no approval first. */
  readonly results: readonly string[];
}

async function toldBy(client: Client, conversation: Conversation): Promise<Told> {
  const state = await restingState(client, conversation);
  const turns = (await outputsOf(client, conversation)).filter(({ input }) => input === conversation.message);
  const text = turns.at(-1)?.output?.at(-1)?.text ?? '';
  return { state, turns: turns.length, results: text.startsWith('[') ? JSON.parse(text) : [] };
}

function isUnknown(result: string): boolean {
  return result.includes('OUTCOME_UNKNOWN');
}

function compare(
  { message, verdict = 'APPROVED', shown }: Conversation,
  { state, turns, results }: Told,
  arrived: readonly Args[],
): string[] {
  const complaints: string[] = [];
  if (state !== 'READY') complaints.push(`${message}: ${state}`);
  if (turns !== 1) complaints.push(`${message}: ${turns} turns`);
  for (const [index, call] of CALLS.entries()) {
    const made = arrived.filter(args => args.said === message && args.call === call);
    const told = results[index + 1] ?? '';
    const where = `${message}, ${call}, ${verdict}: made ${made.length} times, told ${JSON.stringify(told)}`;
    if (made.some(args => !isDeepStrictEqual(args, shown[call])))
      complaints.push(`not as it was shown: ${where}`);
    complaints.push(...faultsOf(made.length, told, verdict).map(fault => `${fault}: ${where}`));
  }
  return complaints;
}

function faultsOf(times: number, told: string, verdict: Verdict): string[] {
  if (verdict === 'REJECTED')
    return [
      ...(times > 0 ? ['made without approval'] : []),
      ...(told.includes('REJECTED') ? [] : ['not told of the rejection']),
    ];
  const isDone = told.includes('done');
  return [
    ...(times > 1 ? ['made twice'] : []),
    ...(isDone && times === 0 ? ['said to be done'] : []),
    ...(isDone || isUnknown(told) ? [] : ['said wrongly']),
  ];
}
