import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newTestDatabase } from '@patchbay/testing/stores';
import { describe, expect, it } from 'vitest';
import { killTrial } from './kill-trial.ts';

/** 20 trials in all here; the long proof runs the same code with a bigger number. */
describe.each([
  ['sqlite', 14],
  ['postgres', 6],
] as const)('kill -9 during turns on %s', (engine, trials) => {
  it('loses and doubles no acknowledged message, and leaves no conversation locked', {
    timeout: 240_000,
  }, async () => {
    let acknowledged = 0;
    for (let trial = 0; trial < trials; trial += 1) {
      const dataDir = await mkdtemp(join(tmpdir(), 'patchbay-kill-'));
      await using database = engine === 'postgres' ? await newTestDatabase() : undefined;
      const result = await killTrial({
        dataDir,
        databaseUrl: database?.url,
        conversations: 4,
        // Spread over the first turns, not drawn: a failing trial can be repeated.
        killAfterMs: 40 + trial * 23,
      });
      expect(result.complaints).toEqual([]);
      acknowledged += result.acknowledged;
      await rm(dataDir, { recursive: true, force: true });
    }
    expect(acknowledged).toBeGreaterThan(trials);
  });
});
