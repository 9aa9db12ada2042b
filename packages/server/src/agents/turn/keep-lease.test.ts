import { expect, it, vi } from 'vitest';
import type { Clock } from '../../kernel/clock.ts';
import { keepLease } from './keep-lease.ts';

/** A turn whose first renewal is under way until `answer` is called. */
async function renewing() {
  // Each sleep is over when the test says so.
  const wakes: (() => void)[] = [];
  const clock: Clock = {
    now: () => 0,
    sleep: (_ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        wakes.push(resolve);
        signal?.addEventListener('abort', () => reject(signal.reason));
      }),
  };
  const caller = new AbortController();
  const renewal = Promise.withResolvers<'renewed' | 'lost' | 'cancelled'>();
  const renew = vi.fn(() => renewal.promise);
  const keeper = keepLease({
    clock,
    conversationId: 'c',
    timeLimitMs: 1_000,
    cancelled: caller.signal,
    stopping: new AbortController().signal,
    renew,
  });
  wakes[1]!();
  await vi.waitFor(() => expect(renew).toHaveBeenCalled());
  return { keeper, cancel: () => caller.abort(), endTime: () => wakes[0]!(), answer: renewal.resolve };
}

const soon = () => new Promise(resolve => setTimeout(resolve, 20, 'waits'));

it('does not wait for a renewal that hears nothing when the turn has been cancelled', async () => {
  const { keeper, cancel } = await renewing();
  cancel();
  await keeper.stop();
  expect(keeper.signal.reason).toMatchObject({ kind: 'cancelled' });
});

it('does not wait for a renewal that hears nothing when the time is over', async () => {
  const { keeper, endTime } = await renewing();
  endTime();
  await vi.waitFor(() => expect(keeper.signal.aborted).toBe(true));
  await keeper.stop();
  expect(keeper.signal.reason).toMatchObject({ kind: 'timeout' });
});

it('waits for it before a turn is committed', async () => {
  const { keeper, answer } = await renewing();
  const stopped = keeper.stop().then(() => 'stopped');
  expect(await Promise.race([stopped, soon()])).toBe('waits');
  answer('renewed');
  expect(await stopped).toBe('stopped');
});
