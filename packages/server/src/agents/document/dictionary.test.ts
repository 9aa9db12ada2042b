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
    [
      'a pause by expression',
      { words: [{ word: 'wait', expressions: 'PAUSE_CONVERSATION' }] },
      'is not supported',
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
});
