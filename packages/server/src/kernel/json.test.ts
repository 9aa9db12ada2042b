import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, parseJson } from './json.ts';

const parse = (text: string, maxDepth = 32) => parseJson(text, { maxDepth });
const reason = (text: string, maxDepth = 32) => {
  const outcome = parse(text, maxDepth);
  return outcome.ok ? 'ok' : outcome.refusal.reason;
};

/** JSON values without what parseJson refuses on purpose. */
const jsonValue = fc
  .jsonValue({ maxDepth: 6, stringUnit: 'binary' })
  .filter(
    value => !JSON.stringify(value).includes('__proto__') && !JSON.stringify(value).includes('\\u0000'),
  );

describe('parseJson', () => {
  it('reads what JSON.parse reads', () => {
    fc.assert(
      fc.property(jsonValue, fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(parse(text)).toEqual({ ok: true, value: JSON.parse(text) });
      }),
      { numRuns: 2000 },
    );
  });

  it('never accepts what JSON.parse refuses, and refuses for one of its own reasons only', () => {
    const mutated = fc
      .tuple(
        jsonValue,
        fc.nat(),
        fc.constantFrom('"', '\\', '{', '}', '[', ']', ',', ':', '0', ' ', '\\u0000'),
      )
      .map(([value, position, inserted]) => {
        const text = JSON.stringify(value);
        const at = position % (text.length + 1);
        return text.slice(0, at) + inserted + text.slice(at);
      });
    fc.assert(
      fc.property(fc.oneof(mutated, fc.string({ unit: fc.constantFrom(...'{}[],:"\\ab0 ') })), text => {
        const outcome = parse(text);
        let expected: unknown;
        try {
          expected = JSON.parse(text);
        } catch {
          expect(outcome.ok ? 'ok' : outcome.refusal.reason).toMatch(/^(syntax|too_deep)$/);
          return;
        }
        if (outcome.ok) expect(outcome.value).toEqual(expected);
        else expect(outcome.refusal.reason).not.toBe('syntax');
      }),
      { numRuns: 5000 },
    );
  });

  it('finds a key that comes twice, however it is written and however many there are', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 40 }),
        fc.nat(),
        (keys, pick) => {
          const clean = keys.filter(key => key !== '__proto__' && !key.includes('\0'));
          fc.pre(clean.length > 0);
          const again = clean[pick % clean.length]!;
          const escaped = [...again].map(c =>
            [...c]
              .flatMap(u => u.split(''))
              .map(u => `\\u${u.charCodeAt(0).toString(16).padStart(4, '0')}`)
              .join(''),
          );
          const members = clean.map(key => `${JSON.stringify(key)}:{"x":1}`);
          expect(reason(`{${members.join(',')}}`)).toBe('ok');
          expect(reason(`{${members.join(',')},"${escaped.join('')}":2}`)).toBe('duplicate_key');
        },
      ),
    );
  });

  it.each([
    ['{"a":1,"a":2}', 'duplicate_key'],
    ['{"a":1,"b":{"a":1}}', 'ok'],
    ['[{"a":1},{"a":2}]', 'ok'],
    ['{"a":["a","a"],"b":"a"}', 'ok'],
    ['{"a":{"b":1,"b":1}}', 'duplicate_key'],
    ['{"a":[{}],"a":1}', 'duplicate_key'],
    ['{"__proto__":{"admin":true}}', 'forbidden_key'],
    ['{"\\u005f_proto__":1}', 'forbidden_key'],
    ['["__proto__"]', 'ok'],
    ['"\\u0000"', 'nul_character'],
    ['{"a\\u0000":1}', 'nul_character'],
    ['"\\\\\\u0000"', 'nul_character'],
    ['"\\\\u0000"', 'ok'],
    ['"\0"', 'syntax'],
    ['{"a":1,"a":2', 'syntax'],
    ['{"a":1e308}', 'ok'],
    ['', 'syntax'],
    ['\uFEFF{}', 'syntax'],
    ['"', 'syntax'],
    ['"\\"', 'syntax'],
  ])('%j: %s', (text, expected) => {
    expect(reason(text)).toBe(expected);
  });

  it('counts nesting exactly and survives a million brackets', () => {
    expect(reason('[[1]]', 2)).toBe('ok');
    expect(reason('[[[1]]]', 2)).toBe('too_deep');
    expect(reason('1', 0)).toBe('ok');
    expect(reason('['.repeat(1_000_000))).toBe('too_deep');
    expect(reason('{"a":'.repeat(1_000_000))).toBe('too_deep');
    expect(reason('["[[[[[[",{"a":"{{{{{{"}]', 2)).toBe('ok');
  });

  it('tells what to do, and never quotes the text', () => {
    const outcome = parse('{"password": "hunter2-canary" oops}');
    expect(outcome).toMatchObject({ ok: false, refusal: { reason: 'syntax' } });
    expect(JSON.stringify(outcome)).not.toContain('canary');
    expect(parse('{"amount":1,"amount":2}')).toMatchObject({
      refusal: { message: 'the JSON has the key "amount" twice in one object; keep one' },
    });
  });
});

describe('canonicalJson', () => {
  it('keeps the value', () => {
    fc.assert(
      fc.property(jsonValue, value => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('is the same text for every order of keys, and another text for another value', () => {
    expect(canonicalJson({ b: [{ y: 1, x: 2 }], a: undefined, A: null })).toBe(
      '{"A":null,"b":[{"x":2,"y":1}]}',
    );
    fc.assert(
      fc.property(fc.dictionary(fc.string(), jsonValue), dictionary => {
        const reversed = Object.fromEntries(Object.entries(dictionary).reverse());
        expect(canonicalJson(reversed)).toBe(canonicalJson(dictionary));
      }),
    );
    expect(canonicalJson({ a: 1 })).not.toBe(canonicalJson({ a: '1' }));
    expect(canonicalJson([1, [2]])).not.toBe(canonicalJson([[1], 2]));
  });
});

describe('half of a surrogate pair', () => {
  it.each([
    ['{"a":"\\ud800"}', false],
    ['{"a":"\\udc00\\ud800"}', false],
    ['{"\\uDFFF":1}', false],
    ['{"a":"\\ud83d\\ude00"}', true],
    ['{"a":"\\\\ud800"}', true],
    ['{"a":"\\\\\\ud800"}', false],
  ])('is refused in %s: whole pairs and escaped backslashes pass', (text, passes) => {
    expect(parseJson(text, { maxDepth: 10 }).ok).toBe(passes);
  });
});
