import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Client } from '@patchbay/contract/client';
import { type PlatformProcess, startPlatformProcess } from '@patchbay/testing/platform-process';
import {
  type Args,
  CALLS,
  CAREFUL,
  type CarefulWorld,
  shownCalls,
  startCarefulWorld,
  talkToCareful,
} from '../test/crash/careful-world.ts';
import type { Figure } from './connections.ts';
import { inParallel } from './in-parallel.ts';
import { percentile } from './load.ts';
import { memoryMbOf } from './process-usage.ts';

const ENV = {
  PATCHBAY_LOG_LEVEL: 'error',
  PATCHBAY_AGENT_DOOR_RATE: '0',
  PATCHBAY_EGRESS_PRIVATE_HOSTS: '127.0.0.1',
  PATCHBAY_CONNECTIONS_CALLS_PER_MINUTE: '0',
};
/** Decided one after the other, to see how long each takes. */
const ONE_BY_ONE = 20;
const AT_ONCE = 8;

export interface WaitingProof {
  readonly figures: readonly Figure[];
  /** Empty when all waited through a restart and a kill, and every call was made once and as it was shown. */
  readonly complaints: readonly string[];
}

/** Has so many conversations wait for a person to approve calls of a model, and then decides them all: some before a restart, some after it, the rest after a kill -9. */
export async function measureWaiting(options: {
  readonly dataDir: string;
  readonly databaseUrl?: string | undefined;
  readonly conversations: number;
  readonly say: (text: string) => void;
}): Promise<WaitingProof> {
  const { conversations: count, say } = options;
  await using world = await startCarefulWorld();
  const complaints: string[] = [];
  const start = () => startPlatformProcess({ ...options, env: ENV });
  const first = await start();
  await world.prepare(first.client);
  const waiting = new Map<string, Readonly<Record<string, Args>>>();
  const begin = async (index: number) => {
    const { conversationId } = await first.client.call('create_conversation', { agentId: CAREFUL });
    await talkToCareful(first.client, conversationId, `do c${index}`);
    waiting.set(conversationId, await shownCalls(first.client, conversationId));
  };
  const warmUp = Array.from({ length: 100 }, (_, index) => -index - 1);
  await inParallel(AT_ONCE, warmUp, begin);
  await inParallel(AT_ONCE, [...waiting.keys()], conversationId => finish(first.client, conversationId));
  waiting.clear();
  const before = await memoryMb(first);

  const indices = Array.from({ length: count }, (_, index) => index);
  const beginMs = await took(() => inParallel(AT_ONCE, indices, begin));
  const withAll = await memoryMb(first);
  say(`${count} wait`);
  const listMs = await listed(first.client, count, complaints);
  const ids = [...waiting.keys()];
  const firstOnes = ids.splice(0, ONE_BY_ONE);
  const finishMs = await finishEach(first.client, firstOnes);

  await end(first, 'SIGTERM');
  const restartedAt = performance.now();
  const second = await start();
  const restartMs = performance.now() - restartedAt;
  const restarted = await memoryMb(second);
  const listAgainMs = await listed(second.client, ids.length, complaints);
  const secondOnes = ids.splice(0, ONE_BY_ONE);
  const finishAgainMs = await finishEach(second.client, secondOnes);

  await end(second, 'SIGKILL');
  const killedAt = performance.now();
  const third = await start();
  const afterKillMs = performance.now() - killedAt;
  await listed(third.client, ids.length, complaints);
  const restMs = await took(() => inParallel(AT_ONCE, ids, id => finish(third.client, id)));
  await inParallel(AT_ONCE, [...waiting.keys()], async conversationId => {
    const { conversationState } = await third.client.call('read_conversation', { conversationId });
    if (conversationState !== 'READY') complaints.push(`${conversationId} is ${conversationState}`);
  });
  await end(third, 'SIGTERM');
  complaints.push(...compare([...waiting.values()], world));
  return {
    complaints,
    figures: [
      { what: `${count} conversations begun and waiting, each`, unit: 'ms', value: beginMs / count },
      { what: 'memory before', unit: 'MB', value: before },
      { what: `memory with ${count} waiting`, unit: 'MB', value: withAll },
      { what: `list of ${count} that wait`, unit: 'ms', value: listMs },
      { what: 'one decided and its turn ended', unit: 'ms', value: finishMs },
      { what: 'restart to ready', unit: 'ms', value: restartMs },
      { what: `memory after the restart`, unit: 'MB', value: restarted },
      { what: 'list after the restart', unit: 'ms', value: listAgainMs },
      { what: 'one decided and its turn ended after the restart', unit: 'ms', value: finishAgainMs },
      { what: 'kill -9 to ready', unit: 'ms', value: afterKillMs },
      {
        what: `the other ${ids.length} decided and their turns ended, each`,
        unit: 'ms',
        value: restMs / ids.length,
      },
    ],
  };
}

async function finish(client: Client, conversationId: string): Promise<void> {
  await client.call('resume_conversation', { conversationId, verdict: 'APPROVED' });
  for (;;) {
    const { conversationState } = await client.call('read_conversation', { conversationId });
    if (conversationState !== 'IN_PROGRESS') return;
    await setTimeout(1);
  }
}

/** The median. */
async function finishEach(client: Client, ids: readonly string[]): Promise<number> {
  const times: number[] = [];
  for (const id of ids) times.push(await took(() => finish(client, id)));
  return percentile(
    times.toSorted((a, b) => a - b),
    0.5,
  );
}

async function listed(client: Client, count: number, complaints: string[]): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < 5; n += 1) {
    times.push(
      await took(async () => {
        const found = await client.call('list_pending_approvals', { limit: 1_000 });
        if (found.count !== Math.min(count, 1_000)) complaints.push(`${found.count} of ${count} are listed`);
      }),
    );
  }
  return percentile(
    times.toSorted((a, b) => a - b),
    0.5,
  );
}

/** Of all calls that were shown, those that were not made exactly once and so. */
function compare(shown: readonly Readonly<Record<string, Args>>[], { arrived }: CarefulWorld): string[] {
  const keyOf = (args: Args | undefined) => `${args?.said} ${args?.call}`;
  const made = Map.groupBy(arrived, keyOf);
  return shown.flatMap(calls =>
    CALLS.flatMap(call => {
      const args = calls[call];
      const found = made.get(keyOf(args)) ?? [];
      if (found.length === 1 && isDeepStrictEqual(found[0], args)) return [];
      return [`shown ${JSON.stringify(args)}, made ${JSON.stringify(found)}`];
    }),
  );
}

/** When nothing is at work any more. */
async function memoryMb({ process }: PlatformProcess): Promise<number> {
  await setTimeout(1_000);
  return memoryMbOf([process.pid!], 'Rss');
}

async function took(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

async function end({ process }: PlatformProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  process.kill(signal);
  await once(process, 'exit');
}
