import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type CallRate, createCallRate } from './call-rate.ts';

let rates: CallRate[];
beforeEach(() => {
  vi.useFakeTimers();
  rates = [];
});
afterEach(() => {
  for (const rate of rates) rate.close();
  vi.useRealTimers();
});

/** One node's count, and what it tells. */
function node(perMinute: number) {
  const told: Readonly<Record<string, number>>[] = [];
  const news = { lost: false };
  const rate = createCallRate({
    perMinute,
    clock: { sleep: ms => new Promise(resolve => setTimeout(resolve, ms)) },
    tell: async parts => {
      if (!news.lost) told.push(...parts);
      return !news.lost;
    },
  });
  rates.push(rate);
  const admitted = async (calls: number, credential = 'key_1', agentId = 'demo') => {
    let count = 0;
    for (let call = 0; call < calls; call += 1) if (await rate.admits(credential, agentId)) count += 1;
    return count;
  };
  return { rate, told, admitted, news };
}

describe('the call rate', () => {
  it('lets so many calls of a credential at an agent in within a minute, each pair by itself (B-73)', async () => {
    const { admitted } = node(5);
    expect(await admitted(8)).toBe(5);
    expect(await admitted(8, 'key_2')).toBe(5);
    expect(await admitted(8, 'key_1', 'other')).toBe(5);
    await vi.advanceTimersByTimeAsync(59_900);
    expect(await admitted(1)).toBe(0);
    await vi.advanceTimersByTimeAsync(200);
    expect(await admitted(8)).toBe(5);
  });

  it('has no limit at 0, and tells nothing', async () => {
    const { admitted, told } = node(0);
    expect(await admitted(1_000)).toBe(1_000);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(told).toEqual([]);
  });

  it('tells once a second what was let in, and nothing while nobody calls', async () => {
    const { admitted, told } = node(5);
    await admitted(3);
    await admitted(7, 'key_2');
    await vi.advanceTimersByTimeAsync(999);
    expect(told).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(told).toEqual([{ 'key_1 demo': 3, 'key_2 demo': 5 }]);
    await vi.advanceTimersByTimeAsync(10_000);
    await admitted(1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(told.slice(1)).toEqual([{ 'key_1 demo': 1 }]);
  });

  it('tells what could not be told with the next telling, while its minute lasts', async () => {
    const { admitted, told, news } = node(5);
    news.lost = true;
    await admitted(2);
    await vi.advanceTimersByTimeAsync(1_000);
    await admitted(1);
    await admitted(1, 'key_2');
    await vi.advanceTimersByTimeAsync(1_500);
    expect(told).toEqual([]);
    news.lost = false;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(told).toEqual([{ 'key_1 demo': 3, 'key_2 demo': 1 }]);
    news.lost = true;
    await admitted(2);
    await vi.advanceTimersByTimeAsync(60_000);
    news.lost = false;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(told).toHaveLength(1);
  });

  it('tells in parts that fit into an event', async () => {
    const { admitted, told } = node(5);
    const longest = (count: number) => `key_${String(count).padStart(20, '0')}`;
    for (let count = 0; count < 120; count += 1) await admitted(1, longest(count), 'a'.repeat(64));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(told.map(calls => Object.keys(calls).length)).toEqual([50, 50, 20]);
    for (const calls of told)
      expect(JSON.stringify({ kind: 'calls-counted', calls }).length).toBeLessThan(7_000);
  });

  it('counts what other nodes let in', async () => {
    const { rate, admitted } = node(5);
    expect(await admitted(1)).toBe(1);
    rate.count({ 'key_1 demo': 3, 'key_2 demo': 9 });
    expect(await admitted(8)).toBe(1);
    expect(await admitted(8, 'key_2')).toBe(0);
  });

  it('tells nothing after it was closed', async () => {
    const { rate, admitted, told } = node(5);
    await admitted(1);
    rate.close();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(told).toEqual([]);
  });
});
