import { describe, expect, it } from 'vitest';
import { isValueWord, markExpressions, VALUE_WORDS } from './value-words.ts';

describe('words that are values', () => {
  it.each([
    ['integer', { '42': '42', '-7': '-7', '+7': '7', '007': '007' }, ['4.2', '4a', '', '-', '1,000']],
    [
      'decimal',
      { '3.14': '3.14', '3,14': '3.14', '-0.5': '-0.5', '+1.0': '1.0' },
      ['3', '3.', '.5', '1.2.3', '1,2,3'],
    ],
    [
      'email',
      { 'ada@example.org': 'ada@example.org', 'a.b+c@d.e.hu': 'a.b+c@d.e.hu' },
      ['a@b', '@b.hu', 'a@@b.hu', 'a(b@c.hu', 'a@b.c'],
    ],
    [
      'time',
      {
        '0:00': '0',
        '14:30': '52200000',
        '14:30:15': '52215000',
        '9h': '32400000',
        '9H05': '32700000',
        '24:00': '0',
        '23:59:59': '86399000',
      },
      ['24:01', '12:60', '12', '12:3', '25h', '2pm', '12:00:60'],
    ],
    [
      'ordinalNumber',
      { '1st': '1', '2ND': '2', '23rd': '23', '04th': '4' },
      ['st', '1', '1.', '1sts', 'first'],
    ],
  ] as const)('are read as %s', (type, values, others) => {
    const { read } = VALUE_WORDS[type];
    for (const [word, value] of Object.entries(values)) expect([word, read(word)]).toEqual([word, value]);
    for (const word of others) expect([word, read(word)]).toEqual([word, undefined]);
  });

  it('are no longer than an address may be', () => {
    expect(isValueWord('1'.repeat(254))).toBe(true);
    expect(isValueWord('1'.repeat(255))).toBe(false);
  });
});

describe('sentence marks', () => {
  it('have an expression each, up to a number', () => {
    expect(markExpressions('!"?.,:;)', 10)).toEqual([
      'punctuation(exclamation_mark)',
      'punctuation(question_mark)',
      'punctuation(dot)',
      'punctuation(comma)',
      'punctuation(colon)',
      'punctuation(semicolon)',
    ]);
    expect(markExpressions('!!!!', 2)).toHaveLength(2);
  });
});
