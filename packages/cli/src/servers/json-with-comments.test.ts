import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJsonWithComments } from './json-with-comments.ts';

describe('JSON as hosts write it', () => {
  it.each([
    ['{"a": 1}', { a: 1 }],
    ['\uFEFF{"a": 1,}', { a: 1 }],
    ['// first\n{"a": [1, 2,], /* in\nbetween */ "b": {},}', { a: [1, 2], b: {} }],
    [
      '{"a": "https://x // no comment, }", "b": "/* none */", "c": ",]"}',
      { a: 'https://x // no comment, }', b: '/* none */', c: ',]' },
    ],
    ['{"a": "a quote \\" // inside", "b": "\\\\"} // last', { a: 'a quote " // inside', b: '\\' }],
    ['{"a": 1, // why\n}', { a: 1 }],
  ])('is read: %j', (text, value) => {
    expect(parseJsonWithComments(text)).toEqual(value);
  });

  it.each(['', '{', '{"a": 1 "b": 2}', "{'a': 1}", '{"key": "canary1', '{"a": , }'])(
    'is refused without being quoted: %j',
    text => {
      expect(() => parseJsonWithComments(text)).toThrow(/^is not JSON( \(line 1\))?$/);
    },
  );

  it('is what JSON is, where it is JSON', () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom(undefined, 2), (text, indent) => {
        const written = JSON.stringify(JSON.parse(text), null, indent);
        expect(parseJsonWithComments(written)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('says the line', () => {
    expect(() => parseJsonWithComments('{\n // one\n "a": 1\n "b": 2 }')).toThrow('is not JSON (line 4)');
  });
});
