import { describe, expect, it } from 'vitest';
import { DIALECTS } from './dialects.ts';
import { rebuildSchema } from './rebuild-schema.ts';

const GEMINI = DIALECTS.gemini.schema.takes!;
const PLAIN = DIALECTS.plain.schema.takes!;

/** What becomes of the schema of an argument, and what is lost of it. */
function argument(schema: unknown, more: object = {}, subset = GEMINI) {
  const built = rebuildSchema({ type: 'object', properties: { a: schema }, ...more }, subset);
  const { properties } = built.schema as { properties: { a?: unknown } };
  const lost = built.losses.map(({ path, what }) => `${path.replace(/^\/properties\/a/, '')} ${what}`.trim());
  return { schema: properties.a, lost };
}

describe('a schema in the keywords of a subset', () => {
  it('has what is referred to in its place, with what stands beside the reference', () => {
    const $defs = { name: { type: 'string', description: 'A name.', maxLength: 5 } };
    expect(argument({ $ref: '#/$defs/name', description: 'Hers.' }, { $defs }, PLAIN)).toEqual({
      schema: { type: 'string', description: 'Hers.', maxLength: 5 },
      lost: [],
    });
    expect(argument({ $ref: 'https://a.example/b', type: 'string' })).toEqual({
      schema: { type: 'string' },
      lost: ['$ref'],
    });
  });

  it('has all of allOf in one, the narrower of two limits and what is said of a member twice', () => {
    const all = [
      { type: 'object', properties: { x: { type: 'number' }, y: { minimum: 1 } }, required: ['x'] },
      { properties: { y: { type: 'integer', minimum: 3, maximum: 9 } }, required: ['y', 'x'] },
      { additionalProperties: false },
    ];
    expect(argument({ allOf: all })).toEqual({
      schema: {
        type: 'object',
        properties: { x: { type: 'number' }, y: { type: 'integer', minimum: 3, maximum: 9 } },
        required: ['x', 'y'],
      },
      lost: [],
    });
    expect(argument({ allOf: [{ type: 'string', pattern: 'a' }, { pattern: 'b' }] })).toEqual({
      schema: { type: 'string', description: 'pattern: b; pattern: a' },
      lost: ['pattern'],
    });
  });

  it('has alternatives, of which each says what applies to all of them', () => {
    const anyOf = [
      { type: 'string', description: 'Text.' },
      { type: 'number', minimum: 1 },
      { type: 'null' },
    ];
    expect(argument({ anyOf, description: 'Either.', maximum: 9 })).toEqual({
      schema: {
        anyOf: [
          { type: 'string', description: 'Either.\nText.' },
          { type: 'number', minimum: 1, maximum: 9 },
          { type: 'null' },
        ],
      },
      lost: [],
    });
  });

  it.each([
    ['a list of types', { type: ['string', 'null'], maxLength: 3 }],
    ['a flag of OpenAPI', { type: 'string', nullable: true, maxLength: 3 }],
    ['an alternative', { oneOf: [{ type: 'null' }, { type: 'string', maxLength: 3 }] }],
    ['a value', { anyOf: [{ const: null }, { type: 'string', maxLength: 3 }] }],
  ])('may be null where it was %s', (_, schema) => {
    expect(argument(schema, {}, PLAIN)).toEqual({
      schema: { anyOf: [{ type: 'string', maxLength: 3 }, { type: 'null' }] },
      lost: [],
    });
  });

  it('has values in one list, and those of other types beside them', () => {
    const oneOf = [{ const: 'red', title: 'Red' }, { enum: ['green'] }, { const: 'blue' }];
    expect(argument({ oneOf })).toEqual({
      schema: { type: 'string', enum: ['red', 'green', 'blue'] },
      lost: [],
    });
    expect(argument({ enum: ['a', 1, 2.5, true, null] })).toEqual({
      schema: {
        anyOf: [
          { type: 'string', enum: ['a'], description: 'enum: [true]' },
          { type: 'number', enum: [1, 2.5] },
          { type: 'boolean' },
          { type: 'null' },
        ],
      },
      lost: ['enum'],
    });
    expect(argument({ type: 'integer', enum: [1, 'a'] }).schema).toEqual({ type: 'integer', enum: [1] });
    expect(argument({ const: { b: 1 } }, {}, PLAIN)).toEqual({
      schema: { type: 'object', description: 'enum: [{"b":1}]' },
      lost: ['enum'],
    });
    const words = Array.from({ length: 300 }, (_, index) => `w${index}`);
    expect(argument({ enum: words })).toMatchObject({ schema: { type: 'string' }, lost: ['enum'] });
  });

  it('is an object at its root, with the members of all alternatives', () => {
    const built = rebuildSchema(
      {
        type: 'object',
        properties: { at: { type: 'string' } },
        oneOf: [
          { properties: { kind: { const: 'a' }, x: { type: 'string' } }, required: ['kind', 'x'] },
          { properties: { kind: { const: 'b' }, y: { type: 'string' } }, required: ['kind', 'y'] },
        ],
      },
      GEMINI,
    );
    expect(built).toEqual({
      schema: {
        type: 'object',
        description: 'one of: (kind="a", x) or (kind="b", y)',
        properties: {
          at: { type: 'string' },
          kind: { type: 'string', enum: ['a', 'b'] },
          x: { type: 'string' },
          y: { type: 'string' },
        },
        required: ['kind'],
      },
      losses: [{ path: '', what: 'anyOf' }],
    });
  });

  it('says of lists what is in them, in whatever order', () => {
    const pair = [{ type: 'number' }, { type: 'string' }];
    const both = {
      type: 'array',
      maxItems: 2,
      items: { anyOf: pair },
      description: 'prefixItems: [{"type":"number"},{"type":"string"}]',
    };
    expect(argument({ prefixItems: pair, maxItems: 2, type: 'array' }).schema).toEqual(both);
    expect(argument({ type: 'array', items: pair, additionalItems: false, maxItems: 2 }).schema).toEqual(
      both,
    );
    expect(argument({ type: 'array' }, {}, PLAIN)).toEqual({
      schema: { type: 'array', items: {} },
      lost: [],
    });
    expect(argument({ type: 'array' }).schema).toMatchObject({
      items: {
        anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }, {}, {}, { type: 'null' }],
      },
    });
  });

  it('has members that are required and not described, and none that must not be there', () => {
    const schema = { type: 'object', properties: { b: false, c: true }, required: ['d', 'b'] };
    expect(argument(schema, {}, PLAIN).schema).toEqual({
      type: 'object',
      properties: { c: {}, d: {} },
      required: ['d'],
    });
    const map = { type: 'object', additionalProperties: { $ref: '#/$defs/n' } };
    expect(argument(map, { $defs: { n: { type: 'number' } } }).schema).toEqual({
      type: 'object',
      additionalProperties: { type: 'number' },
    });
  });

  it('says in words what it has no keywords for, in the order it was said', () => {
    const schema = {
      type: 'string',
      description: 'An address.',
      format: 'email',
      minLength: 3,
      not: { const: 'a' },
      default: 'b',
    };
    expect(argument(schema)).toEqual({
      schema: {
        type: 'string',
        description: 'An address. (format: email; minLength: 3; not: {"const":"a"}; default: b)',
      },
      lost: ['format', 'minLength', 'not'],
    });
    expect(argument(schema, {}, PLAIN)).toEqual({
      schema: {
        type: 'string',
        minLength: 3,
        default: 'b',
        description: 'An address. (format: email; not: {"const":"a"})',
      },
      lost: ['format', 'not'],
    });
    // No number beyond it can be told from another one.
    expect(argument({ type: 'integer', maximum: 9007199254740991, exclusiveMinimum: 0 })).toEqual({
      schema: { type: 'integer', description: 'exclusiveMinimum: 0' },
      lost: ['exclusiveMinimum'],
    });
  });

  it('ends where it is in itself, and below the sixth level', () => {
    const $defs = {
      tree: { type: 'object', properties: { of: { type: 'array', items: { $ref: '#/$defs/tree' } } } },
    };
    const { schema, lost } = argument({ $ref: '#/$defs/tree' }, { $defs });
    const last = { type: 'object', description: 'its members are not described' };
    const list = (items: object) => ({ type: 'object', properties: { of: { type: 'array', items } } });
    expect(schema).toEqual(list(list(last)));
    expect(lost).toEqual(['/properties/of/items/properties/of/items what is inside']);

    let deep: object = { type: 'string' };
    for (let level = 0; level < 9; level++) deep = { type: 'object', properties: { a: deep } };
    const levels = JSON.stringify(argument(deep).schema).split('"properties"').length - 1;
    expect(levels).toBe(5);
    expect(argument(deep).lost).toEqual([`${'/properties/a'.repeat(5)} what is inside`]);
  });
});
