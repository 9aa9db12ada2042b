import { afterAll, describe, expect, it } from 'vitest';
import { citationsIn, compare, readCitations, STATES, summary } from './citations.ts';
import { sourceOf } from './repository.ts';
import { PARTIAL, REQUIREMENTS } from './requirements.ts';

describe('requirements and the tests that cite them', () => {
  const { unknown, repeated, citedButOpen, claimedButUncited } = compare(readCitations(), STATES);
  afterAll(() => console.log(summary()));

  it('know every cited id', () => expect(unknown).toEqual([]));
  it('give an id one state', () => expect(repeated).toEqual([]));
  it('leave no cited id open', () => expect(citedButOpen).toEqual([]));
  it('have a test for every id held or partly held', () => expect(claimedButUncited).toEqual([]));
  it('say what is missing where an id is held in part', () => {
    expect(PARTIAL.filter(([, missing]) => missing.trim().length < 10)).toEqual([]);
  });
  it('are the lines of the project, none lost', () => {
    const families = Map.groupBy(REQUIREMENTS, line => line.id.split('-')[0]!);
    expect(Object.fromEntries([...families].map(([family, lines]) => [family, lines.length]))).toEqual({
      W: 109,
      B: 88,
      BX: 42,
      A: 196,
      E: 106,
      EX: 18,
    });
    expect(REQUIREMENTS.filter(line => line.binding)).toHaveLength(499);
    expect(REQUIREMENTS.filter(line => line.inferred)).toHaveLength(110);
  });
});

describe('citations', () => {
  const cited = (text: string) => citationsIn(sourceOf('test/x.test.ts', text)).map(({ id }) => id);

  it('are found in titles of groups and tests, also of repeated ones', () => {
    expect(cited(`describe('keys (B-44)', () => { it('are shown once, BX-01', () => {}); });`)).toEqual([
      'B-44',
      'BX-01',
    ]);
    expect(cited(`it.each(rows)('%s (E-23, E-100)', () => {});`)).toEqual(['E-23', 'E-100']);
    expect(cited(`describe.each\`a\`(\`on \${engine} (W-01)\`, () => {});`)).toEqual(['W-01']);
    expect(cited(`it.skipIf(none)('long ' + 'title (A-07)', () => {});`)).toEqual(['A-07']);
    expect(cited(`describeOnBoth('the store (E-23)', () => {});`)).toEqual(['E-23']);
  });
  it('are not found elsewhere', () => {
    expect(cited(`// E-23\nexpect('E-23').toBe(1); item('E-23'); pattern.test('E-23');`)).toEqual([]);
    expect(cited(`it('hashes with SHA-256, refuses UTF-16 and -32602', () => {});`)).toEqual([]);
  });
});

describe('the comparison', () => {
  const known = ['E-01', 'E-02', 'E-03'];
  const at = 'test/x.test.ts:1';
  const agrees = { unknown: [], repeated: [], citedButOpen: [], claimedButUncited: [] };

  it('accepts ids that are cited and claimed, or neither', () => {
    const citations = [
      { id: 'E-01', at },
      { id: 'E-02', at },
    ];
    expect(compare(citations, { known, held: ['E-01'], partial: [['E-02', 'the rest']] })).toEqual(agrees);
  });
  it('names a cited id that is open, with the place', () => {
    expect(compare([{ id: 'E-01', at }], { known, held: [], partial: [] })).toEqual({
      ...agrees,
      citedButOpen: [
        expect.stringMatching(/^E-01 is cited but open: mark it held or partial .*x\.test\.ts:1/),
      ],
    });
  });
  it('names an id held or partly held that no test cites', () => {
    expect(compare([], { known, held: ['E-01'], partial: [['E-02', 'the rest']] })).toEqual({
      ...agrees,
      claimedButUncited: [expect.stringMatching(/^E-01 /), expect.stringMatching(/^E-02 /)],
    });
  });
  it('names an id that does not exist, cited or claimed', () => {
    expect(compare([{ id: 'E-09', at }], { known, held: [], partial: [] }).unknown).toEqual([
      expect.stringContaining('E-09 is no requirement, cited at test/x.test.ts:1'),
    ]);
    expect(compare([], { known, held: ['E-08'], partial: [] }).unknown).toEqual([
      expect.stringContaining('E-08'),
    ]);
  });
  it('names an id with two states', () => {
    const citations = [{ id: 'E-01', at }];
    const twice = { known, held: ['E-01', 'E-01'], partial: [['E-01', 'the rest']] } as const;
    expect(compare(citations, twice).repeated).toHaveLength(2);
  });
});
