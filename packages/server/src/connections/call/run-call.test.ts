import { describe, expect, it } from 'vitest';
import { systemClock } from '../../kernel/clock.ts';
import { SessionError } from '../session/failure.ts';
import type { CallStep, OutboundCall } from './outbound-call.ts';
import { runCall } from './run-call.ts';

/** What a call comes to whose sending fails as often as there are failures, how often it was tried, and how it is measured. */
async function run(...failures: SessionError[]) {
  const heard: unknown[] = [];
  const send: CallStep = {
    name: 'send',
    run(state) {
      heard.push(state.arguments);
      state.attempts += 1;
      const failure = failures.shift();
      if (failure) throw failure;
      return { kind: 'refused', code: 'DENIED', message: 'it came to its end' };
    },
  };
  const change: CallStep = {
    name: 'change',
    run(state) {
      state.arguments = { n: Number(state.arguments.n) + 1 };
      return undefined;
    },
  };
  const call = {
    server: { ref: { scope: 'default', name: 'x' } },
    arguments: { n: 1 },
    signal: new AbortController().signal,
  } as unknown as OutboundCall;
  const outcome = await runCall([change, send], call, { clock: systemClock, onCall: () => undefined });
  return { heard, outcome };
}

const givenUp = (reached: 'no' | 'unknown') =>
  new SessionError('INTERRUPTED', reached, 'the connection was closed');

describe('A call whose connection is given up', () => {
  it('before it was sent goes through the table once more, from its beginning', async () => {
    const { heard, outcome } = await run(givenUp('no'));
    expect(heard).toEqual([{ n: 2 }, { n: 2 }]);
    expect(outcome).toMatchObject({ kind: 'refused', record: { attempts: 1 } });
  });

  it('each time fails at last', async () => {
    const { heard, outcome } = await run(givenUp('no'), givenUp('no'));
    expect(heard).toHaveLength(2);
    expect(outcome).toMatchObject({ kind: 'failed', failure: 'INTERRUPTED', reached: 'no' });
  });

  it('while it is under way is not made again (A-67)', async () => {
    const { heard, outcome } = await run(givenUp('unknown'));
    expect(heard).toHaveLength(1);
    expect(outcome).toMatchObject({ kind: 'failed', failure: 'INTERRUPTED', reached: 'unknown' });
  });
});
