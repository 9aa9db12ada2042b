import { describe, expect, it } from 'vitest';
import { dictionaryDocument } from './dictionary.ts';
import { parseDocument } from './parse-document.ts';

const save = (body: unknown) => parseDocument(dictionaryDocument, body);

describe('a dictionary document', () => {
  it('fills in the documented defaults', () => {
    expect(save({ words: [{ word: 'hello' }] })).toEqual({
      words: [{ word: 'hello', expressions: '', frequency: 0 }],
      phrases: [],
      regExs: [],
    });
  });

  it.each([
    ['a word of two', { words: [{ word: 'good day' }] }, 'what has blanks is a phrase'],
    ['a word of punctuation', { words: [{ word: '?!' }] }, 'must be one word'],
    ['a phrase without words', { phrases: [{ phrase: ' - '.replace('-', '') }] }, 'at least one word'],
    [
      'broken expressions',
      { words: [{ word: 'hello', expressions: 'a(' }] },
      'must be a comma list of expressions',
    ],
    ['a pattern that means nothing', { regExs: [{ regEx: 'a+' }] }, 'field "expressions"'],
    ['a broken pattern', { regExs: [{ regEx: '(a', expressions: 'x' }] }, 'has a "(" without ")"'],
    [
      'a pattern that needs backtracking',
      { regExs: [{ regEx: '(a)\\1', expressions: 'x' }] },
      'not supported',
    ],
    ['a pattern longer than 200', { regExs: [{ regEx: 'a'.repeat(201), expressions: 'x' }] }, 'at most 200'],
    ['a feature not built', { corrections: [] }, 'known fields there: lang, words, phrases, regExs'],
  ])('refuses %s', (_, body, problem) => {
    expect(() => save(body)).toThrow(problem);
  });

  const words = (count: number) => Array.from({ length: count }, (_, i) => ({ word: `w${i}` }));
  const phrases = (count: number) => Array.from({ length: count }, (_, i) => ({ phrase: `a ${i}` }));
  const patterns = (count: number, regEx: string) =>
    Array.from({ length: count }, () => ({ regEx, expressions: 'x' }));
  const meaning = (expressions: string) => ({ words: [{ word: 'a', expressions }] });
  it.each([
    ['words', { words: words(10_000) }, { words: words(10_001) }, 'at most 10000 entries'],
    ['phrases', { phrases: phrases(10_000) }, { phrases: phrases(10_001) }, 'at most 10000 entries'],
    ['patterns', { regExs: patterns(50, 'a') }, { regExs: patterns(51, 'a') }, 'at most 50 entries'],
    [
      'big patterns',
      { regExs: patterns(24, '.{0,100}') },
      { regExs: patterns(25, '.{0,100}') },
      'field "regExs" at $.regExs is not valid: are too big together: they need more than 5000 states',
    ],
    [
      'expressions',
      meaning(Array(20).fill('x').join()),
      meaning(Array(21).fill('x').join()),
      'at most 20 expressions',
    ],
    ['long expressions', meaning('x'.repeat(1_000)), meaning('x'.repeat(1_001)), 'at most 1000 characters'],
  ])('takes so many %s and no more', (_, most, tooMany, problem) => {
    expect(() => save(most)).not.toThrow();
    expect(() => save(tooMany)).toThrow(problem);
  });
});
