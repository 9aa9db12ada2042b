import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  allowedCharacterNormalizer,
  contractedWordNormalizer,
  punctuationNormalizer,
  specialCharacterNormalizer,
} from './normalizers.ts';

describe('normalizers', () => {
  it('separate marks from words or remove them, and leave values whole', () => {
    const separate = punctuationNormalizer('!?:.,;', false);
    const words = (text: string) => text.split(/\s+/).filter(Boolean).join(' ');
    expect(words(separate('Hello,world! At 14:30, 3.14? ada@example.org; a.b'))).toBe(
      'Hello , world ! At 14:30 , 3.14 ? ada@example.org ; a . b',
    );
    expect(words(punctuationNormalizer('!?:.,;', true)('Hello,world! At 14:30.'))).toBe(
      'Hello world At 14:30',
    );
    expect(words(punctuationNormalizer('-^]\\', true)('a-b ^c] d\\e f.g'))).toBe('a b c d e f.g');
  });

  it('write special letters plainly', () => {
    expect(specialCharacterNormalizer('Straße Ärger ÜBER árvíztűrő Łódź œuvre')).toBe(
      'Strasse Aerger UeBER arvizturo Lodz oeuvre',
    );
    expect(specialCharacterNormalizer('a\u0308')).toBe('ae');
  });

  it('write contracted words out', () => {
    expect(
      contractedWordNormalizer("I'm sure it's Ada's, don’t they're we'll I'd you've can't won't cannot"),
    ).toBe("I am sure it is Ada's, do not they are we will I would you have can not will not can not");
  });

  it('let only usual characters through', () => {
    expect(allowedCharacterNormalizer('Hi 🙂, 5€ + 3 = ok?\u0007\u200b árvíz')).toBe(
      'Hi , 5€ + 3 = ok? árvíz',
    );
  });

  it('end on any text, and quickly', () => {
    const all = [
      punctuationNormalizer('!?:.,;', false),
      specialCharacterNormalizer,
      contractedWordNormalizer,
      allowedCharacterNormalizer,
    ];
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), text => {
        for (const normalize of all) expect(typeof normalize(text)).toBe('string');
      }),
    );
    const from = performance.now();
    for (const text of [
      "'".repeat(200_000),
      `${'a.'.repeat(100_000)}b`,
      'ä'.repeat(200_000),
      "n't".repeat(60_000),
    ]) {
      for (const normalize of all) normalize(text);
    }
    expect(performance.now() - from).toBeLessThan(5_000);
  });
});
