import { Validator } from '@cfworker/json-schema';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mismatchIn } from './check-arguments.ts';

/** Written out, it would make what has it look like a promise. */
const THEN = 'then';

const at = (schema: object, value: unknown) => mismatchIn({ properties: { a: schema } }, { a: value });
const says = (schema: object, value: unknown) => at(schema, value)?.says;

describe('arguments of a tool', () => {
  it.each([
    [{ type: 'string' }, 1, 'must be of the type string'],
    [{ type: ['string', 'null'] }, 1, 'must be of the type string or null'],
    [{ type: 'integer' }, 1.5, 'must be of the type integer'],
    [{ type: 'number' }, '1', 'must be of the type number'],
    [{ type: 'object' }, [], 'must be of the type object'],
    [{ type: 'object' }, null, 'must be of the type object'],
    [{ type: 'array' }, {}, 'must be of the type array'],
    [{ enum: ['a', 1, { b: 1 }] }, 'b', 'must be one of "a", 1, {"b":1}'],
    [{ const: null }, {}, 'must be one of null'],
    [{ minimum: 1 }, 0, 'must be at least 1'],
    [{ maximum: 1 }, 2, 'must be at most 1'],
    [{ exclusiveMinimum: 1 }, 1, 'must be more than 1'],
    [{ exclusiveMaximum: 1 }, 1, 'must be less than 1'],
    [{ minLength: 2 }, '😀', 'must have at least 2 characters'],
    [{ maxLength: 1 }, 'ab', 'must have at most 1 characters'],
    [{ minItems: 1 }, [], 'must have at least 1 entries'],
    [{ maxProperties: 0 }, { b: 1 }, 'must have at most 0 members'],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 1, 'is none of the alternatives'],
    [{ anyOf: [{ type: 'string' }] }, 1, 'must be of the type string'],
    [{ oneOf: [{ type: 'number' }, { minimum: 0 }] }, 1, 'is several of the alternatives, and must be one'],
    [{ not: { type: 'number' } }, 1, 'must not be what it is'],
    [{ if: { type: 'number' }, [THEN]: { minimum: 2 } }, 1, 'must be at least 2'],
    [{ if: { type: 'string' }, else: { minimum: 2 } }, 1, 'must be at least 2'],
    [{ allOf: [{}, { type: 'null' }] }, 1, 'must be of the type null'],
    [false, 1, 'must not be there'],
  ])('are not what %j takes: %j', (schema, value, why) => {
    expect(says(schema as object, value)).toBe(why);
  });

  it('are told by the place', () => {
    const schema = {
      type: 'object',
      properties: {
        filters: { type: 'array', items: { $ref: '#/$defs/filter' } },
        pair: { prefixItems: [{}, { type: 'string' }], items: { type: 'null' } },
        old: { items: [{ type: 'string' }] },
        open: { additionalProperties: { type: 'number' } },
      },
      required: ['filters'],
      additionalProperties: false,
      $defs: { filter: { properties: { name: { type: 'string' } }, required: ['name'] } },
    };
    const place = (given: object) => mismatchIn(schema, { filters: [], ...given });
    expect(mismatchIn(schema, [])).toEqual({ path: '', says: 'must be of the type object' });
    expect(mismatchIn(schema, Object.create({ filters: [] }))).toEqual({
      path: 'filters',
      says: 'is required',
    });
    expect(place({})).toBeUndefined();
    expect(place({ other: 1 })).toEqual({ path: 'other', says: 'is not known to the tool' });
    expect(place({ filters: [{ name: 'a' }, {}] })).toEqual({ path: 'filters[1].name', says: 'is required' });
    expect(place({ pair: [1, 1] })?.path).toBe('pair[1]');
    expect(place({ pair: [1, 'a', 1] })?.path).toBe('pair[2]');
    expect(place({ old: [1, 1] })?.path).toBe('old[0]');
    expect(place({ old: ['a', 1] })).toBeUndefined();
    expect(place({ open: { x: 'a' } })?.path).toBe('open.x');
  });

  it('are named without their values, which may be secret', () => {
    const secret = 'hunter2';
    for (const schema of [{ type: 'number' }, { const: 1 }, { maxLength: 1 }, { not: {} }, { enum: [] }]) {
      expect(JSON.stringify(at(schema, secret))).not.toContain(secret);
    }
  });

  it.each([
    ['another document (A-155)', { $ref: 'https://evil.example/schema.json' }],
    ['nothing', { $ref: '#/$defs/none' }],
    ['a pattern that takes for ever (attack 42)', { pattern: '^(a+)+$' }],
    ['a pattern that is none', { pattern: '(' }],
    ['what is not a pattern', { not: { pattern: 'b' } }],
    ['one of two patterns', { oneOf: [{ pattern: 'a' }, { pattern: 'b' }] }],
    ['a condition nobody can tell', { if: { pattern: 'b' }, [THEN]: false, else: false }],
    ['a list of types nobody knows', { type: [] }],
    ['itself', { $ref: '#/properties/a' }],
    ['itself, twice', { anyOf: [{ $ref: '#/properties/a' }, { $ref: '#/properties/a' }] }],
  ])('are left to the server where the schema says %s', (_, schema) => {
    expect(at(schema, `${'a'.repeat(40)}!`)).toBeUndefined();
  });

  it('are left to the server where they would take long to compare (attack 42)', () => {
    const child = { $ref: '#/$defs/node' };
    const branch = { properties: { child } };
    const schema = { ...child, $defs: { node: { type: 'object', anyOf: [branch, branch] } } };
    let deep: unknown = 1;
    for (let level = 0; level < 60; level++) deep = { child: deep };
    expect(mismatchIn(schema, deep)).toBeUndefined();
    expect(mismatchIn(schema, { child: 1 })?.says).toBe('is none of the alternatives');
    let bottomless: unknown = 1;
    for (let level = 0; level < 100_000; level++) bottomless = [bottomless];
    const lists = { properties: { a: { type: 'array', items: { $ref: '#/properties/a' } } } };
    expect(mismatchIn(lists, { a: bottomless })).toBeUndefined();
    expect(
      at(
        { items: { type: 'string' } },
        Array.from({ length: 1_000_000 }, () => 1),
      ),
    ).toBeUndefined();
  });

  it('do not count what stands beside a reference where the draft says so', () => {
    const schema = { properties: { a: { $ref: '#/definitions/x', type: 'string' } }, definitions: { x: {} } };
    const draft = (version: string) => ({ ...schema, $schema: `http://json-schema.org/${version}/schema#` });
    expect(mismatchIn(draft('draft-07'), { a: 1 })).toBeUndefined();
    expect(mismatchIn(draft('draft/2020-12'), { a: 1 })?.path).toBe('a');
  });

  it('are refused only where another validator refuses them too', () => {
    const small = fc.integer({ min: 0, max: 2 });
    const { schema, value } = fc.letrec<{ schema: object; value: unknown }>(tie => ({
      schema: fc.oneof(
        { maxDepth: 2 },
        fc.constantFrom(
          {},
          { type: 'string' },
          { type: ['integer', 'null'] },
          { const: 'a' },
          { enum: [1, 'b'] },
        ),
        fc.record(
          {
            type: fc.constantFrom('object', 'array', 'number', 'string'),
            $ref: fc.constantFrom('#/$defs/d', '#/$defs/e'),
            properties: fc.dictionary(fc.constantFrom('a', 'b'), tie('schema'), { noNullPrototype: true }),
            required: fc.subarray(['a', 'b']),
            additionalProperties: fc.oneof(fc.boolean(), tie('schema')),
            items: tie('schema'),
            prefixItems: fc.array(tie('schema'), { maxLength: 2 }),
            allOf: fc.array(tie('schema'), { maxLength: 2 }),
            anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
            oneOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
            not: tie('schema'),
            if: tie('schema'),
            [THEN]: tie('schema'),
            else: tie('schema'),
            minimum: small,
            exclusiveMaximum: small,
            minLength: small,
            maxItems: small,
            minProperties: small,
            uniqueItems: fc.boolean(),
            pattern: fc.constantFrom('a', '^b'),
          },
          { requiredKeys: [] },
        ),
      ),
      value: fc.oneof(
        { maxDepth: 2 },
        fc.constantFrom(0, 1, 1.5, 'a', 'b', '', null, true, '😀'),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value'), { maxKeys: 3, noNullPrototype: true }),
      ),
    }));
    const seen = { both: 0, neither: 0 };
    fc.assert(
      fc.property(schema, schema, value, (root, shared, given) => {
        const whole = { ...root, $defs: { d: { not: { const: 'a' } }, e: { properties: { a: shared } } } };
        const { valid } = new Validator(whole, '2020-12').validate(given);
        const mismatch = mismatchIn(whole, given);
        if (mismatch) expect(valid).toBe(false);
        // What has nothing in it that is not looked at is told as exactly.
        if (!/"(?:pattern|uniqueItems)"/.test(JSON.stringify(whole)))
          expect(mismatch === undefined).toBe(valid);
        seen[mismatch ? 'both' : 'neither']++;
      }),
      { numRuns: 500 },
    );
    expect(Math.min(seen.both, seen.neither)).toBeGreaterThan(50);
  });
});
