import { describe, expect, it } from 'vitest';
import { readLine } from './read-message.ts';

const read = (text: string) => readLine(Buffer.from(text, 'utf8'));
const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };

describe('a line of a server', () => {
  it.each([
    ['as it is', JSON.stringify(PING)],
    ['with a carriage return', `${JSON.stringify(PING)}\r`],
    ['with a byte order mark', `\ufeff${JSON.stringify(PING)}`],
    ['with space around it', `  ${JSON.stringify(PING)}\t`],
  ])('is a message %s', (_how, text) => {
    expect(read(text)).toEqual({ kind: 'messages', messages: [PING] });
  });

  it('keeps every character, also U+2028, NUL and half a surrogate pair that JSON spells out', () => {
    const text = '{"jsonrpc":"2.0","method":"m","params":{"a":"\u2028\u2029","b":"\\u0000","c":"\\ud800"}}';
    expect(read(text)).toEqual({
      kind: 'messages',
      messages: [{ jsonrpc: '2.0', method: 'm', params: { a: '\u2028\u2029', b: '\0', c: '\ud800' } }],
    });
  });

  it('of 2025-03-26 may be a batch', () => {
    expect(read(JSON.stringify([PING, PING]))).toEqual({ kind: 'messages', messages: [PING, PING] });
  });

  it.each(['', '\r', ' \t', '\ufeff'])('is nothing when it is %j', text => {
    expect(read(text)).toEqual({ kind: 'empty' });
  });

  it.each(['Server started', '{"jsonrpc":"2.0"', '42', 'null', '{"level":"info"}', '[]', '[1]', '\0'])(
    'is noise when it is %s',
    text => {
      expect(read(text)).toEqual({ kind: 'noise', text });
    },
  );
});
