import { describe, expect, it } from 'vitest';
import { isTooLong, refusePassword } from './password-rules.ts';

const reasonFor = (password: string, login?: string) => refusePassword(password, { login })?.reason;

describe('a password', () => {
  it.each([
    ['short', 'too-short'],
    // Eleven characters in twenty-two units.
    ['🔑'.repeat(11), 'too-short'],
    ['a long text that is not one'.repeat(10), 'too-long'],
    ['aaaaaaaaaaaaaaa', 'too-easy'],
    ['abababababababab', 'too-easy'],
    ['123456789012', 'too-easy'],
    ['abcdefghijklmn', 'too-easy'],
    ['Password123456', 'too-easy'],
    ['qwertyuiop2026', 'too-easy'],
    ['jelszo123456!', 'too-easy'],
    ['passwordpassword', 'too-easy'],
    ['anna.kovacs!', 'too-easy'],
  ])('%s is refused: %s', (password, reason) => {
    expect(reasonFor(password, 'anna.kovacs')).toBe(reason);
  });

  it.each([
    'seven brown lanterns',
    'zöld-lámpás-hét',
    'annalikesbrownlanterns',
    'k7#mQ2!xPz9&',
    'xxxxabcdefgh9',
  ])('%s is taken', password => {
    expect(reasonFor(password, 'anna')).toBeUndefined();
  });

  it('that cannot be one is told by its length alone', () => {
    expect([isTooLong('x'.repeat(256)), isTooLong('x'.repeat(257)), isTooLong('x'.repeat(1e6))]).toEqual([
      false,
      true,
      true,
    ]);
  });
});
