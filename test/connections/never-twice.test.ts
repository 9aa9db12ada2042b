import { array, assert, asyncProperty, constant, constantFrom, integer, oneof, record } from 'fast-check';
import { expect, it } from 'vitest';
import type { Clock } from '../../packages/server/src/kernel/clock.ts';
import { call, connectTo, type Heard, newMark } from './fault-rig.ts';
import { FAULTS, type FaultEra, type FaultName, startFaultServer } from './servers/fault-server.ts';

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

const deed = oneof(
  {
    weight: 3,
    arbitrary: record({
      does: constant('calls' as const),
      faults: array(constantFrom<FaultName>('none', 'streamed', ...faults), { minLength: 1, maxLength: 5 }),
    }),
  },
  {
    weight: 2,
    arbitrary: record({
      does: constantFrom(
        'restart' as const,
        'forget' as const,
        'other era' as const,
        'kill' as const,
        'start' as const,
        'other refusal' as const,
        'break streams' as const,
      ),
    }),
  },
);

it('No call is executed twice, none that was said not to have arrived was executed, and nothing is answered but what the server said, whatever happens in whichever order (A-67, attack 40)', async () => {
  await assert(
    asyncProperty(
      constantFrom<FaultEra>('legacy', 'modern'),
      array(deed, { minLength: 3, maxLength: 12 }),
      integer({ min: 0, max: 3 }),
      async (era, deeds, early) => {
        const server = await startFaultServer(era);
        await using rig = connectTo(server, { clock: fastClock });
        const calls: Promise<{ readonly mark: string; readonly heard: Heard }>[] = [];
        const begin = (fault: FaultName) => {
          const mark = newMark();
          calls.push(call(rig.connection, fault, { mark }).then(heard => ({ mark, heard })));
        };
        for (const [n, done] of deeds.entries()) {
          switch (done.does) {
            case 'calls':
              for (const fault of done.faults) begin(fault);
              // Some are under way when the next thing happens, some have ended.
              if (n % 4 >= early) await Promise.all(calls);
              break;
            case 'restart':
              await server.kill();
              await server.start();
              break;
            case 'kill':
              await server.kill();
              break;
            case 'start':
              await server.kill();
              await server.start();
              break;
            case 'forget':
              server.forgetSessions();
              break;
            case 'other era':
              server.era = server.era === 'legacy' ? 'modern' : 'legacy';
              break;
            case 'other refusal':
              server.refusal =
                server.refusal.status === 404 ? { status: 400, code: -32000 } : { status: 404, code: -32001 };
              break;
            case 'break streams':
              server.endStreams();
          }
        }
        for (const { mark, heard } of await Promise.all(calls)) {
          const executions = server.executions(mark);
          expect(executions).toBeLessThanOrEqual(1);
          if ('text' in heard) expect([heard.text, executions]).toEqual([mark, 1]);
          else if (heard.reached === 'no') expect(executions).toBe(0);
        }
        await server.kill();
        await server.start();
        let last: Heard | undefined;
        for (let tries = 0; tries < 10 && !(last && 'text' in last); tries++) {
          await fastClock.sleep(Math.max(0, (rig.connection.trouble?.retryAt ?? 0) - fastClock.now()));
          last = await call(rig.connection);
        }
        expect(last).toHaveProperty('text');
        await rig.pool.close();
        await server[Symbol.asyncDispose]();
      },
    ),
    { numRuns: 60 },
  );
}, 120_000);
