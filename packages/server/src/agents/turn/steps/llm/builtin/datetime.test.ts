import { describe, expect, it } from 'vitest';
import { NoResult } from './built-in-tool.ts';
import { datetime } from './datetime.ts';

const NOW = Date.parse('2026-11-30T13:05:00Z');
const run = (args: Readonly<Record<string, unknown>>) => datetime.run(args, NOW);

describe('The tool for dates and times', () => {
  it.each([
    [{ operation: 'now' }, '2026-11-30T13:05:00+00:00 (Monday, UTC)'],
    [{ operation: 'now', zone: 'Europe/Budapest' }, '2026-11-30T14:05:00+01:00 (Monday, Europe/Budapest)'],
    [
      { operation: 'convert', time: '2026-07-01T09:00:00+02:00', zone: 'America/New_York' },
      '2026-07-01T03:00:00-04:00 (Wednesday, America/New_York)',
    ],
    // The clock of Budapest jumps that night.
    [
      {
        operation: 'add',
        time: '2026-03-29T01:30:00+01:00',
        amount: 1,
        unit: 'hours',
        zone: 'Europe/Budapest',
      },
      '2026-03-29T03:30:00+02:00 (Sunday, Europe/Budapest)',
    ],
    [
      { operation: 'add', time: '2026-03-01', amount: -1, unit: 'days' },
      '2026-02-28T00:00:00+00:00 (Saturday, UTC)',
    ],
    [
      { operation: 'difference', time: '2026-11-30T00:00:00Z', other: '2026-12-02T01:02:03Z' },
      '2 days 1 hours 2 minutes 3 seconds (176523 seconds)',
    ],
    [{ operation: 'difference', time: '2026-11-30', other: '2026-11-29' }, '-1 days (-86400 seconds)'],
    [{ operation: 'difference', time: '2026-11-30', other: '2026-11-30' }, '0 seconds (0 seconds)'],
  ])('answers %j', (args, said) => {
    expect(run(args)).toBe(said);
  });

  it.each([
    [{ operation: 'now', zone: 'Mars/Olympus' }, 'IANA name'],
    [{ operation: 'convert', time: '2026-07-01T09:00:00' }, 'with an offset'],
    [{ operation: 'convert', time: '2026-99-99' }, 'with an offset'],
    [{ operation: 'convert' }, 'must be a text'],
    [{ operation: 'add', time: '2026-07-01', amount: 'x', unit: 'days' }, 'must be a number'],
    [{ operation: 'add', time: '2026-07-01', amount: 1, unit: 'toString' }, 'must be one of'],
    [{ operation: 'add', time: '2026-07-01', amount: 1e300, unit: 'days' }, 'no such date'],
    [{ operation: 'constructor' }, 'must be one of'],
    [{}, 'must be a text'],
  ])('has no answer to %j', (args, why) => {
    expect(() => run(args)).toThrow(NoResult);
    expect(() => run(args)).toThrow(why);
  });
});
