import { describe, expect, it } from 'vitest';
import { parseDuration } from './duration.ts';

describe('a duration', () => {
  it.each([
    ['PT30M', 1_800_000],
    ['PT0S', 0],
    ['PT1.5S', 1_500],
    ['PT0.007S', 7],
    ['P1DT12H', 129_600_000],
    ['P2W', 1_209_600_000],
    ['P1DT1H1M1S', 90_061_000],
  ])('%s is %i ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each([
    '',
    'P',
    'PT',
    'P1DT',
    '30m',
    '1h',
    'PT30',
    'P1M',
    'P1Y',
    'pt1h',
    '-PT1H',
    'PT-1H',
    'PT1M1H',
    'P1W1D',
  ])('is not %j', text => {
    expect(parseDuration(text)).toBeUndefined();
  });
});
