import { expect, it } from 'vitest';
import { createQueue } from './queue.ts';

it('runs as many tasks at a time as it may, in the order they came, whatever becomes of them', async () => {
  const run = createQueue(2);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const tasks = [0, 1, 2, 3, 4].map(n =>
    run(async () => {
      begun.push(n);
      await new Promise<void>(resolve => {
        ends[n] = resolve;
      });
      if (n === 1) throw new Error('broken');
      return n;
    }).catch((error: Error) => error.message),
  );
  await expect.poll(() => begun).toEqual([0, 1]);
  ends[1]!();
  await expect.poll(() => begun).toEqual([0, 1, 2]);
  ends[0]!();
  ends[2]!();
  await expect.poll(() => begun).toEqual([0, 1, 2, 3, 4]);
  ends[3]!();
  ends[4]!();
  expect(await Promise.all(tasks)).toEqual([0, 'broken', 2, 3, 4]);
  expect(await run(async () => 'free again')).toBe('free again');
});
