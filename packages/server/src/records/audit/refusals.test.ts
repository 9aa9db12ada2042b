import { describe, expect, it } from 'vitest';
import { createLogger } from '../../kernel/logger.ts';
import type { Audit } from './audit.ts';
import { createRefusals } from './refusals.ts';

type Event = Parameters<Audit['note']>[0];

/** A minute is over when the test says so. */
function createMinutes() {
  let wake: (() => void) | undefined;
  return {
    now: () => 1_000_000,
    sleep: (_ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        wake = resolve;
        signal?.addEventListener('abort', () => reject(signal.reason));
      }),
    async pass() {
      wake?.();
      await new Promise(resolve => setImmediate(resolve));
    },
  };
}

function rig() {
  const events: Event[] = [];
  const lines: string[] = [];
  const state = { broken: false };
  const clock = createMinutes();
  const note = async (event: Event) => {
    if (state.broken) throw new Error('no database');
    events.push(event);
  };
  const logger = createLogger({
    ...{ level: 'info', format: 'json', clock },
    destination: { write: line => lines.push(line) },
  });
  const subjects = () => events.map(({ subject }) => subject);
  return {
    events,
    subjects,
    lines,
    state,
    clock,
    refusals: createRefusals({ audit: { note }, clock, logger }),
  };
}

describe('refusals', () => {
  it('are written at once, with who it was where that is known', async () => {
    const { refusals, events } = rig();
    refusals.note({ door: 'agent', reason: 'no-credential' });
    refusals.note({
      door: 'operator',
      reason: 'revoked-key',
      subject: { userId: 'user_ann', via: 'user-key', keyId: 'key_1' },
    });
    const base = { operation: 'access_refused', outcome: 'refused' };
    expect(events).toEqual([
      {
        ...base,
        userId: 'unknown',
        via: 'unknown',
        subject: { door: 'agent', reason: 'no-credential', count: 1 },
      },
      {
        ...base,
        userId: 'user_ann',
        via: 'user-key',
        subject: { door: 'operator', reason: 'revoked-key', keyId: 'key_1', count: 1 },
      },
    ]);
  });

  it('that are equal are counted for a minute and written as one', async () => {
    const { refusals, subjects, clock } = rig();
    for (let times = 0; times < 500; times += 1) refusals.note({ door: 'rest', reason: 'unknown-key' });
    expect(subjects()).toEqual([{ door: 'rest', reason: 'unknown-key', count: 1 }]);
    await clock.pass();
    expect(subjects().slice(1)).toEqual([{ door: 'rest', reason: 'unknown-key', count: 499 }]);

    await clock.pass();
    expect(subjects()).toHaveLength(2);
    refusals.note({ door: 'rest', reason: 'unknown-key' });
    expect(subjects().slice(2)).toEqual([{ door: 'rest', reason: 'unknown-key', count: 1 }]);
  });

  it('are bounded: beyond a hundred kinds a minute they are told apart by door and reason only', async () => {
    const { refusals, events, subjects, clock } = rig();
    for (let number = 0; number < 10_000; number += 1) {
      refusals.note({ door: 'oauth', reason: 'unknown-client', subject: { clientId: `client_${number}` } });
      refusals.note({ door: 'oauth', reason: 'wrong-verifier', subject: { clientId: `client_${number}` } });
    }
    await clock.pass();
    expect(events.length).toBe(100 + 2 * 2);
    const folded = subjects().filter(subject => subject.folded === true);
    expect(new Set(folded.map(({ reason }) => reason))).toEqual(
      new Set(['unknown-client', 'wrong-verifier']),
    );
    const counts = subjects().map(({ count }) => count as number);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(20_000);
  });

  it('hold no text that somebody sent, and no credential', async () => {
    const { refusals, subjects } = rig();
    refusals.note({
      door: 'oauth',
      reason: 'bad-redirect',
      subject: {
        clientId: 'https://client.example/id.json',
        text: 'Hello there, <b>admin</b>',
        long: 'x'.repeat(201),
        key: `oag_${'a'.repeat(64)}`,
      },
    });
    expect(subjects()).toEqual([
      {
        ...{ door: 'oauth', reason: 'bad-redirect', count: 1 },
        clientId: 'https://client.example/id.json',
        key: 'oag_[redacted]',
      },
    ]);
  });

  it('that could not be written are counted in the next event of their kind', async () => {
    const { refusals, subjects, state, lines, clock } = rig();
    state.broken = true;
    refusals.note({ door: 'agent', reason: 'expired-key' });
    refusals.note({ door: 'agent', reason: 'expired-key' });
    await clock.pass();
    expect(subjects()).toEqual([]);
    expect(lines.join('')).toContain('A refusal could not be noted in the audit trail');
    state.broken = false;
    await clock.pass();
    expect(subjects()).toEqual([{ door: 'agent', reason: 'expired-key', count: 2 }]);
  });

  it('are all written when the platform stops', async () => {
    const { refusals, subjects } = rig();
    for (let times = 0; times < 3; times += 1) refusals.note({ door: 'page', reason: 'bad-form-token' });
    await refusals.close();
    expect(subjects()).toEqual([
      { door: 'page', reason: 'bad-form-token', count: 1 },
      { door: 'page', reason: 'bad-form-token', count: 2 },
    ]);
  });
});
