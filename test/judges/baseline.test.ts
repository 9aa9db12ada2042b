import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Baseline, compare, type Results, readBaseline } from './baseline.ts';

const results: Results = new Map([
  ['ping', [{ id: 'ping', status: 'SUCCESS' }]],
  [
    'caching',
    [
      { id: 'lists', status: 'SUCCESS' },
      { id: 'prompts', status: 'FAILURE', errorMessage: 'no such method' },
    ],
  ],
  ['polling', [{ id: 'retry', status: 'WARNING' }]],
]);
const known: Baseline = {
  failures: new Map([['prompts', ['caching:prompts']]]),
  warnings: new Map([['streams', ['polling:retry']]]),
};
const demands = { mustPass: ['ping'], byCheckOnly: ['caching'] };
const withFailures = (...entries: string[]): Baseline => ({ ...known, failures: new Map([['x', entries]]) });

describe('holding conformance results against a baseline', () => {
  it('is satisfied when exactly the known checks fail', () => {
    expect(compare(results, known, demands)).toEqual([]);
  });

  it.each([
    ['an unlisted failure', withFailures(), 'FAILURE caching:prompts is not in the baseline: no such method'],
    [
      'an unlisted warning',
      { ...known, warnings: new Map() },
      'WARNING polling:retry is not in the baseline: ',
    ],
    [
      'a stale check',
      withFailures('caching:prompts', 'caching:lists'),
      'caching:lists no longer gives a FAILURE',
    ],
    ['a stale scenario', withFailures('caching:prompts', 'gone'), 'gone no longer gives a FAILURE'],
    [
      'a must listed as a failure',
      withFailures('caching:prompts', 'ping'),
      'ping must pass, it may not be in',
    ],
    [
      'a whole scenario listed where checks are due',
      withFailures('caching'),
      'caching may be in the baseline by',
    ],
  ])('complains of %s', (_case, baseline, complaint) => {
    expect(compare(results, baseline, demands).join('\n')).toContain(complaint);
  });

  it('complains of a must that did not run', () => {
    expect(compare(new Map(), { failures: new Map(), warnings: new Map() }, demands)).toEqual([
      'ping must pass but did not run.',
    ]);
  });

  it.each([
    ['without a feature', 'failures:\n  - ping\n', 'must be a list'],
    ['listed twice', 'failures:\n  a: [ping]\n  b: [ping]\n', "'ping' is listed twice"],
  ])('refuses a file with an entry %s', async (_case, text, message) => {
    const folder = await mkdtemp(join(tmpdir(), 'patchbay-baseline-'));
    try {
      await writeFile(join(folder, 'b.yml'), text);
      await expect(readBaseline(join(folder, 'b.yml'))).rejects.toThrow(message);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
