import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { whyNoSchema, whyNotKept } from './check-schema.ts';

/** `{a: {a: ...}}`, so many objects in one another. */
function nested(levels: number, key = 'a'): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = { [key]: value };
  return value;
}

describe('a value of a server', () => {
  it.each([
    ['an ordinary one', { a: [1, 'x', null, true], constructor: {}, 'é\u200b': '😀' }],
    ['a deep one', nested(64)],
  ])('is kept: %s', (_, value) => {
    expect(whyNotKept(value)).toBeUndefined();
  });

  it.each([
    ['too deep', nested(65), 'is nested deeper than 64 levels'],
    // What is too large is not walked through: that would take as long as the server likes.
    [
      'too large before it is too deep',
      { a: 'x'.repeat(300_000), b: nested(65) },
      'has 300404 bytes; at most 262144 are taken',
    ],
    ['deeper than any stack', nested(1_000_000), 'is nested deeper than 64 levels'],
    ['large', { a: 'x'.repeat(256 * 1024) }, 'has 262152 bytes; at most 262144 are taken'],
    [
      'a prototype (attack 27)',
      JSON.parse('{"a": {"__proto__": {"admin": true}}}'),
      'has a key "__proto__", which is not allowed',
    ],
    ['a NUL', ['a\0'], 'holds a character that cannot be stored'],
    ['half of a pair as a key', { '\ud83d': 1 }, 'holds a character that cannot be stored'],
  ])('is not: %s', (_, value, why) => {
    expect(whyNotKept(value)).toBe(why);
  });
});

/** `d0` is compared with `d1` twice, that with `d2` twice, and so on. */
function doubling(levels: number) {
  const $defs = Object.fromEntries(
    Array.from({ length: levels }, (_, level) => {
      const next = { $ref: `#/$defs/d${level + 1}` };
      return [`d${level}`, level === levels - 1 ? { type: 'string' } : { anyOf: [next, next] }];
    }),
  );
  return { type: 'object', $defs, properties: { a: { $ref: '#/$defs/d0' } } };
}

describe('a schema of a server', () => {
  it.each([
    ['that allows everything', {}],
    ['with parts that are true or false', { type: 'object', properties: { a: true, b: false } }],
    [
      'that is about trees',
      {
        type: 'object',
        properties: { root: { $ref: '#/$defs/node' } },
        $defs: {
          node: {
            type: ['object', 'null'],
            properties: { children: { type: 'array', items: { $ref: '#/$defs/node' } } },
          },
        },
      },
    ],
    ['that is a tree itself', { type: 'object', properties: { child: { $ref: '#' } } }],
    [
      'with words for names',
      { properties: { type: { type: 'string' }, required: {}, $ref: {} }, required: ['type'] },
    ],
    ['that refers to another document', { properties: { a: { $ref: 'https://evil.example/schema.json' } } }],
    ['that refers to nothing', { properties: { a: { $ref: '#/$defs/none' } } }],
    ['with a pattern that takes for ever (attack 42)', { properties: { a: { pattern: '^(a+)+$' } } }],
    ['with a pattern that is none', { properties: { a: { pattern: '(' } } }],
    ['with alternatives of alternatives', doubling(12)],
    [
      'with data that looks like schemas',
      { enum: [{ type: 'x' }], default: { required: 1 }, 'x-a': { $ref: 1 } },
    ],
  ])('is taken: %s', (_, schema) => {
    expect(whyNoSchema(schema)).toBeUndefined();
  });

  const noEnd = 'refers to itself without end, or to too much, at';
  it.each([
    ['it refers to itself', { $ref: '#' }, `${noEnd} its root`],
    [
      'references go in a circle',
      {
        properties: { a: { $ref: '#/$defs/b' } },
        $defs: { b: { $ref: '#/$defs/c' }, c: { allOf: [{ $ref: '#/$defs/b' }] } },
      },
      noEnd,
    ],
    ['a circle goes through a negation', { not: { anyOf: [{ $ref: '#' }] } }, noEnd],
    ['it is exponential (attack 42)', doubling(60), noEnd],
    [
      'a chain is longer than any stack',
      {
        $defs: Object.fromEntries(
          Array.from({ length: 5_000 }, (_, at) => [`d${5_000 - at}`, { $ref: `#/$defs/d${4_999 - at}` }]),
        ),
      },
      noEnd,
    ],
    [
      'it hides a circle where no schema is',
      {
        properties: { a: { $ref: '#/x/y' } },
        x: { y: { properties: { b: { $ref: '#/x/z' } } }, z: { $ref: '#/x/z' } },
      },
      noEnd,
    ],
    ['a property is no schema', { properties: { 'a/b': 1 } }, 'has no schema at /properties/a/b'],
    ['it is none', [], 'has no schema at its root'],
    ['properties are a list', { properties: [] }, 'is malformed at /properties'],
    ['a branch is no list', { items: { anyOf: {} } }, 'is malformed at /items/anyOf'],
    ['there is no such type', { properties: { a: { type: 'float' } } }, 'is malformed at /properties/a/type'],
    ['there is no such type in a list', { type: ['object', 'any'] }, 'is malformed at /type'],
    [
      'required is no list of names',
      { properties: { a: { required: true } } },
      'is malformed at /properties/a/required',
    ],
    ['a reference is no text', { $ref: {} }, 'is malformed at /$ref'],
    ['a description is no text', { description: {} }, 'is malformed at /description'],
    ['it is too deep', nested(65, 'not'), 'is nested deeper than 64 levels'],
  ])('is not: %s', (_, schema, why) => {
    expect(whyNoSchema(schema)).toContain(why);
  });

  it('is looked at to the end, whatever it is', () => {
    const reference = fc.constantFrom(
      '#',
      '#/$defs/a',
      '#/$defs/b',
      '#/properties/a',
      '#x',
      'https://evil.example/',
    );
    const { schema } = fc.letrec<{ schema: unknown }>(tie => {
      const map = fc.dictionary(fc.constantFrom('a', 'b', '$ref', 'type'), tie('schema'), { maxKeys: 3 });
      const list = fc.array(tie('schema'), { maxLength: 3 });
      return {
        schema: fc.oneof(
          { depthSize: 'medium', withCrossShrink: true },
          fc.record({ $ref: reference }),
          fc.boolean(),
          fc.jsonValue(),
          fc.record(
            {
              type: fc.constantFrom('object', 'x'),
              $ref: reference,
              $defs: map,
              properties: map,
              allOf: list,
              anyOf: list,
              items: tie('schema'),
            },
            { requiredKeys: [] },
          ),
        ),
      };
    });
    fc.assert(
      fc.property(schema, one => {
        const before = JSON.stringify(one);
        expect(whyNoSchema(one)).toSatisfy(why => why === undefined || typeof why === 'string');
        expect(JSON.stringify(one)).toBe(before);
      }),
    );
  });
});
