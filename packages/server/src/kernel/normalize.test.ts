import { describe, expect, it } from 'vitest';
import { normalizeText } from './normalize.ts';

describe('a text in a normal form', () => {
  it('is what Unicode says', () => {
    for (const text of ['', 'Straße', 'a\u0308\u0323', 'é'.repeat(100), `${'e\u0301'.repeat(100)}!`]) {
      expect(normalizeText(text, 'NFC')).toBe(text.normalize('NFC'));
      expect(normalizeText(text, 'NFD')).toBe(text.normalize('NFD'));
    }
  });

  it('is made in linear time, however many marks a letter has: of those it keeps thirty (attack 42)', () => {
    for (const marks of [
      '\u0301\u0323'.repeat(100_000),
      '\u0301'.repeat(1_000_000) + '\u0323'.repeat(1_000_000),
    ]) {
      expect(normalizeText(`e${marks}f`, 'NFD')).toHaveLength(32);
    }
  }, 5_000);
});
