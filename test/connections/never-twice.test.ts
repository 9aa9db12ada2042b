import { assert, asyncProperty } from 'fast-check';
import { expect, it } from 'vitest';
import { faultSequence, playFaults } from './fault-sequence.ts';

it('No call is executed twice, none that was said not to have arrived was executed, and nothing is answered but what the server said, whatever happens in whichever order (A-67, attack 40)', async () => {
  await assert(
    asyncProperty(faultSequence, async sequence => {
      expect((await playFaults(sequence)).complaints).toEqual([]);
    }),
    { numRuns: 40 },
  );
}, 120_000);
