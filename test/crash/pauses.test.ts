import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newTestDatabase } from '@patchbay/testing/stores';
import { describe, expect, it } from 'vitest';
import { pauseTrial } from './pause-trial.ts';

/** 6 trials in all here; `npm run soak -- pauses` runs the same code with a bigger number. */
describe.each([
  ['a restart on sqlite', 3, 'sqlite', false],
  ['a restart on postgres', 2, 'postgres', false],
  ['another node', 1, 'postgres', true],
] as const)('kill -9 while turns wait, are approved and go on, then %s', (_, trials, engine, other) => {
  it('loses no approval, does none twice, and leaves no conversation in progress (attack 53)', {
    timeout: 240_000,
  }, async () => {
    let approved = 0;
    for (let trial = 0; trial < trials; trial += 1) {
      const dataDir = await mkdtemp(join(tmpdir(), 'patchbay-pauses-'));
      await using database = engine === 'postgres' ? await newTestDatabase() : undefined;
      const result = await pauseTrial({
        dataDir,
        databaseUrl: database?.url,
        conversations: 4,
        other,
        // Spread over the first turns, not drawn: a failing trial can be repeated.
        killAfterMs: 250 + trial * 61,
      });
      expect(result.complaints).toEqual([]);
      approved += result.approved;
      await rm(dataDir, { recursive: true, force: true });
    }
    expect(approved).toBeGreaterThan(0);
  });
});
