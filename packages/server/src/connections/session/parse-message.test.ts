import { describe, expect, it } from 'vitest';
import { parseMessage } from './parse-message.ts';

const MILLION = 1_000_000;

describe('A message', () => {
  it('is what it says, also when it is large', () => {
    const records = Array.from({ length: 200_000 }, (_, id) => ({
      id,
      at: [id, id],
      name: 'a "name" with \\ and [',
    }));
    expect(parseMessage(JSON.stringify(records))).toEqual(records);
    expect(parseMessage('{"a":[1]}')).toEqual({ a: [1] });
  });

  it('may have as many brackets in its texts as it likes', () => {
    const text = `\\"[{${'[{'.repeat(2 * MILLION)}`;
    expect(parseMessage(JSON.stringify({ text }))).toEqual({ text });
  });

  it.each([
    ['[]', `[${'[],'.repeat(MILLION)}1]`],
    ['{}', `[${'{},'.repeat(MILLION)}1]`],
    ['nested', `${'['.repeat(MILLION + 1)}${']'.repeat(MILLION + 1)}`],
    ['behind texts', `["\\\\","\\"",${'[],'.repeat(MILLION)}1]`],
  ])('of too many objects and lists is not read: %s (attack 39)', (_, text) => {
    expect(() => parseMessage(text)).toThrow('the message has more than 1000000 objects and lists');
  });

  it('that is no JSON is none', () => {
    expect(() => parseMessage('<html>')).toThrow(SyntaxError);
    expect(() => parseMessage(`"${'x'.repeat(3 * MILLION)}`)).toThrow(SyntaxError);
  });
});
