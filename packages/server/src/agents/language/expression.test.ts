import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Expression,
  expressionOf,
  matchesExpression,
  matchesSubList,
  parseExpression,
  parseExpressions,
  printExpression,
} from './expression.ts';

const name = fc
  .string({ minLength: 1, maxLength: 8, unit: 'grapheme' })
  .map(text => text.replaceAll(/[(),]/g, '').trim())
  .filter(text => text !== '');
const { expression } = fc.letrec<{ expression: Expression }>(tie => ({
  expression: fc.record({
    name,
    args: fc.oneof({ depthSize: 'small' }, fc.constant([]), fc.array(tie('expression'), { maxLength: 3 })),
  }),
}));

/** Throws instead of answering `undefined`, to keep the cases short. */
function parsed(text: string): Expression {
  const value = parseExpression(text);
  if (value === undefined) throw new Error(`no expression: ${text}`);
  return value;
}

const matches = (pattern: string, fact: string) => matchesExpression(parsed(pattern), parsed(fact));

describe('the expression grammar', () => {
  it('reads what it prints', () => {
    fc.assert(
      fc.property(expression, one => {
        expect(parseExpression(printExpression(one))).toEqual(one);
      }),
    );
  });

  it('reads a list as its members', () => {
    fc.assert(
      fc.property(fc.array(expression, { minLength: 1, maxLength: 5 }), list => {
        expect(parseExpressions(list.map(printExpression).join(','))).toEqual(list);
      }),
    );
  });

  it('never throws and never hangs, whatever the text', () => {
    const text = fc.string({ unit: fc.constantFrom('(', ')', ',', 'a', ' ', '*'), maxLength: 40 });
    fc.assert(
      fc.property(text, some => {
        const list = parseExpressions(some);
        if (list) expect(parseExpressions(list.map(printExpression).join(', '))).toEqual(list);
      }),
    );
    expect(parseExpressions('a('.repeat(100_000))).toBeUndefined();
  });

  it.each(['', ' ', 'a,', ',a', 'a(', 'a)', 'a(b))', 'a(b)(c)', 'a(b) c', '(a)', 'a(,b)', 'a(b,)'])(
    'refuses %j',
    text => expect(parseExpressions(text)).toBeUndefined(),
  );

  it('ignores blanks around names and takes empty parentheses as no arguments', () => {
    expect(parsed('  order ( big one , red( ) ) ')).toEqual({
      name: 'order',
      args: [
        { name: 'big one', args: [] },
        { name: 'red', args: [] },
      ],
    });
  });
});

describe('matching', () => {
  it.each([
    ['greeting', 'greeting', true],
    ['greeting', 'greeting(hello)', false],
    ['greeting(hello)', 'greeting', false],
    ['greeting(hello)', 'greeting(hello)', true],
    ['greeting(hello)', 'greeting(bye)', false],
    ['greeting(*)', 'greeting(hello)', true],
    ['greeting(*)', 'greeting(hello, twice)', true],
    ['greeting(*)', 'greeting', true],
    ['order(pizza, *)', 'order(pizza, big)', true],
    ['order(pizza, *)', 'order(pasta, big)', false],
    ['order(*, big)', 'order(pizza, big)', true],
    ['order(*, big)', 'order(pizza, extra, big)', false],
    ['order(item(*))', 'order(item(pizza))', true],
    ['*', 'anything(at, all)', true],
    ['greeting', '*', false],
    ['greeting(hello)', 'greeting(*)', false],
  ])('%s against %s is %s', (pattern, fact, expected) => expect(matches(pattern, fact)).toBe(expected));

  it('matches itself', () => {
    fc.assert(
      fc.property(expression, one => {
        expect(matchesExpression(one, one)).toBe(true);
      }),
    );
  });

  it('wants neighbours in order', () => {
    const facts = parseExpressions('a, b, c')!;
    const found = (list: string) => matchesSubList(parseExpressions(list)!, facts);
    expect(['a', 'c', 'a, b', 'b, c', 'a, *, c', '*'].filter(found)).toHaveLength(6);
    expect(['b, a', 'a, c', 'a, b, c, d', 'd', '*, a'].filter(found)).toEqual([]);
  });

  it('puts any word of a person into an expression that can be read back', () => {
    const word = fc.string({ minLength: 1 }).filter(text => /[^(),\s]/.test(text));
    fc.assert(
      fc.property(word, text => {
        const made = expressionOf('unknown', text);
        expect(matchesExpression(parsed('unknown(*)'), parsed(printExpression(made)))).toBe(true);
        expect(parsed(printExpression(made)).args).toHaveLength(1);
      }),
    );
  });
});
