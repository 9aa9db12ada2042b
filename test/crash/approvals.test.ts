import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newTestDatabase } from '@patchbay/testing/stores';
import { expect, it } from 'vitest';
import { approvalTrial, MOMENTS } from './approval-trial.ts';

/** One trial each; `npm run soak -- approvals` runs the same code with a bigger number. */
it.each(MOMENTS.map((moment, index) => ({ moment, engine: index % 2 === 0 ? 'sqlite' : 'postgres' })))(
  'calls that a person approved are made at most once and as they were shown after a kill -9 while they are $moment, on $engine (attacks 51 and 53)',
  {
    timeout: 120_000,
  },
  async ({ moment, engine }) => {
    const dataDir = await mkdtemp(join(tmpdir(), 'patchbay-approvals-'));
    await using database = engine === 'postgres' ? await newTestDatabase() : undefined;
    const databaseUrl = database?.url;
    const result = await approvalTrial({ dataDir, databaseUrl, conversations: 4, moment, variation: 1 });
    expect(result.complaints).toEqual([]);
    expect(result.received).toBeGreaterThan(0);
    await rm(dataDir, { recursive: true, force: true });
  },
);
