import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createResolver, mapSubschemas, subschemasOf } from './json-schema.ts';

describe('references', () => {
  const root = {
    type: 'object',
    properties: { 'a/b~c': { type: 'string' }, list: { prefixItems: [{ type: 'integer' }] } },
    $defs: { place: { $anchor: 'there', type: 'number' }, 'é x': { type: 'boolean' } },
    required: ['list'],
  };
  const resolve = createResolver(root);

  it.each([
    ['#', root],
    ['#/$defs/place', root.$defs.place],
    ['#there', root.$defs.place],
    ['#/properties/a~1b~0c', { type: 'string' }],
    ['#/properties/list/prefixItems/0', { type: 'integer' }],
    ['#/$defs/%C3%A9%20x', { type: 'boolean' }],
  ])('inside of the document are resolved: %s (A-149)', (reference, schema) => {
    expect(resolve(reference)).toEqual(schema);
    expect(resolve(reference)).toEqual(schema);
  });

  it.each([
    'https://evil.example/schema.json',
    'other.json#/$defs/place',
    'place',
    '#nowhere',
    '#/$defs/nowhere',
    '#/required/0',
    '#/%E0%A4%A',
    '#/__proto__',
    '#/properties/constructor',
    '#/required/length',
  ])('to another document, or to nothing, stand for nothing: %s (A-155, attack 42)', reference => {
    expect(resolve(reference)).toBeUndefined();
  });
});

describe('the schemas in a schema', () => {
  it('are found under their keywords, and not in what is data', () => {
    const schema = {
      properties: { allOf: { type: 'string' } },
      items: [{ a: 1 }, true],
      not: { b: 1 },
      anyOf: 'no list',
      enum: [{ properties: {} }],
      default: { not: {} },
    };
    expect([...subschemasOf(schema)]).toEqual([
      { keyword: 'properties', key: 'allOf', schema: { type: 'string' } },
      { keyword: 'items', key: '0', schema: { a: 1 } },
      { keyword: 'items', key: '1', schema: true },
      { keyword: 'not', key: undefined, schema: { b: 1 } },
    ]);
  });

  it('are the ones that are replaced', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('properties', 'items', 'allOf', 'not', 'enum', 'x'), fc.jsonValue()),
        schema => {
          const inside = [...subschemasOf(schema)].map(one => one.schema);
          const replaced: unknown[] = [];
          const same = mapSubschemas(schema, one => {
            replaced.push(one);
            return one;
          });
          expect(replaced).toEqual(inside);
          expect(same).toEqual(schema);
        },
      ),
    );
  });
});
