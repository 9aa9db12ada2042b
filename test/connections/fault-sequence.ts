import { type Arbitrary, array, constant, constantFrom, integer, oneof, record } from 'fast-check';
import type { Clock } from '../../packages/server/src/kernel/clock.ts';
import { connectTo, type FaultRig, type Heard, newMark } from './fault-rig.ts';
import {
  FAULTS,
  type FaultEra,
  type FaultName,
  type FaultServer,
  startFaultServer,
} from './servers/fault-server.ts';

/** So much faster than the time of day. */
const FAST = 50;

/** Time that passes quickly, so that pauses of a second cost little. */
const fastClock: Clock = {
  now: () => performance.now() * FAST,
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const timer = setTimeout(resolve, ms / FAST);
      signal?.addEventListener('abort', () => {
        clearTimeout(timer);
        reject(signal.reason);
      });
    }),
};

/** What a server does that has no end of its own takes until the time limit. */
const ENDLESS = /without end|large|million|drip|carriage|many lines/;
const faults = (Object.keys(FAULTS) as FaultName[]).filter(name => !ENDLESS.test(name));

const DEEDS = ['restart', 'kill', 'forget', 'other era', 'other refusal', 'break streams'] as const;

type Deed =
  | { readonly does: 'calls'; readonly faults: readonly FaultName[] }
  | { readonly does: (typeof DEEDS)[number] };

/** What happens to a server and the calls of it, one thing after another. */
export interface FaultSequence {
  readonly era: FaultEra;
  readonly deeds: readonly Deed[];
  /** Some calls are under way when the next thing happens: the more, the larger this is. */
  readonly early: number;
}

const deed: Arbitrary<Deed> = oneof(
  {
    weight: 3,
    arbitrary: record({
      does: constant('calls' as const),
      faults: array(constantFrom<FaultName>('none', 'streamed', ...faults), { minLength: 1, maxLength: 5 }),
    }),
  },
  { weight: 2, arbitrary: record({ does: constantFrom(...DEEDS) }) },
);

export const faultSequence: Arbitrary<FaultSequence> = record({
  era: constantFrom<FaultEra>('legacy', 'modern'),
  deeds: array(deed, { minLength: 3, maxLength: 12 }),
  early: integer({ min: 0, max: 3 }),
});

export interface FaultSequenceResult {
  readonly calls: number;
  readonly answered: number;
  /** Said not to have arrived. */
  readonly unsent: number;
  readonly complaints: readonly string[];
}

/** Plays a sequence, and compares what calls came to with what the server counted. */
export async function playFaults({ era, deeds, early }: FaultSequence): Promise<FaultSequenceResult> {
  await using server = await startFaultServer(era);
  await using rig = connectTo(server, { clock: fastClock });
  const calls: Promise<{ readonly mark: string; readonly heard: Heard }>[] = [];
  for (const [n, one] of deeds.entries()) {
    if (one.does !== 'calls') {
      await act(server, one.does);
      continue;
    }
    for (const fault of one.faults) {
      const mark = newMark();
      calls.push(rig.call(fault, { mark }).then(heard => ({ mark, heard })));
    }
    if (n % 4 >= early) await Promise.all(calls);
  }
  const ended = await Promise.all(calls);
  const complaints = ended.flatMap(({ mark, heard }) => complaintsOf(server.executions(mark), mark, heard));
  if (!(await comesBack(server, rig))) complaints.push('it is not called any more once the server is well');
  return {
    calls: ended.length,
    answered: ended.filter(({ heard }) => 'text' in heard).length,
    unsent: ended.filter(({ heard }) => 'kind' in heard && heard.reached === 'no').length,
    complaints,
  };
}

async function act(server: FaultServer, does: (typeof DEEDS)[number]): Promise<void> {
  switch (does) {
    case 'restart':
      await server.kill();
      return server.start();
    case 'kill':
      return server.kill();
    case 'forget':
      return server.forgetSessions();
    case 'other era':
      server.era = server.era === 'legacy' ? 'modern' : 'legacy';
      return;
    case 'other refusal':
      server.refusal =
        server.refusal.status === 404 ? { status: 400, code: -32000 } : { status: 404, code: -32001 };
      return;
    case 'break streams':
      return server.endStreams();
  }
}

function complaintsOf(executions: number, mark: string, heard: Heard): string[] {
  if (executions > 1) return [`${mark} was executed ${executions} times`];
  if ('text' in heard)
    return heard.text === mark && executions === 1 ? [] : [`${mark} was answered with ${heard.text}`];
  return heard.reached === 'no' && executions > 0 ? [`${mark} was executed, and said not to be`] : [];
}

async function comesBack(server: FaultServer, { call, connection }: FaultRig): Promise<boolean> {
  await server.kill();
  await server.start();
  for (let tries = 0; tries < 10; tries++) {
    if ('text' in (await call())) return true;
    await fastClock.sleep(Math.max(0, (connection.trouble?.retryAt ?? 0) - fastClock.now()));
  }
  return false;
}
