import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newTestDatabase } from '@patchbay/testing/stores';
import { describe, expect, it } from 'vitest';
import { effectTrial } from './effect-trial.ts';

/** 11 trials in all here; `npm run soak -- effects` runs the same code with a bigger number. */
describe.each([
  ['sqlite', 'HTTP calls', 4],
  ['postgres', 'HTTP calls', 2],
  ['sqlite', 'MCP tools with a handshake', 2],
  ['postgres', 'MCP tools with a handshake', 1],
  ['sqlite', 'MCP tools without sessions', 1],
  ['postgres', 'MCP tools without sessions', 1],
] as const)('kill -9 on %s during calls with an effect: %s', (engine, world, trials) => {
  it('makes no call twice, loses none, and says what nobody knows (attack 53)', {
    timeout: 240_000,
  }, async () => {
    let received = 0;
    for (let trial = 0; trial < trials; trial += 1) {
      const dataDir = await mkdtemp(join(tmpdir(), 'patchbay-effects-'));
      await using database = engine === 'postgres' ? await newTestDatabase() : undefined;
      const result = await effectTrial({
        dataDir,
        databaseUrl: database?.url,
        conversations: 4,
        world,
        // Spread over the first turns, not drawn: a failing trial can be repeated.
        killAfterMs: (world === 'HTTP calls' ? 80 : 160) + trial * 61,
      });
      expect(result.complaints).toEqual([]);
      received += result.received;
      await rm(dataDir, { recursive: true, force: true });
    }
    expect(received).toBeGreaterThan(trials);
  });
});
