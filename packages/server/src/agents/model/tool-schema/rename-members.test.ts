import { describe, expect, it } from 'vitest';
import { renameMembers } from './rename-members.ts';

const TAKEN = /^[A-Za-z_][A-Za-z0-9_]{0,9}$/;

describe('members with names that a provider takes', () => {
  it('are those there were, in the same object, where all are taken', () => {
    const root = {
      type: 'object',
      properties: { a: { properties: { 'x y': {} } } },
      patternProperties: { '^x': {} },
    };
    expect(renameMembers(root, TAKEN)).toEqual({ schema: root, lost: [], names: new Map() });
    expect(renameMembers(root, TAKEN).schema).toBe(root);
    expect(renameMembers({ type: 'object' }, TAKEN).names.size).toBe(0);
  });

  it('have names of their own, each once, and the way back', () => {
    const names = ['a b', 'a_b', 'a/b', 'a-b', '1', 'á', 'a_b_2'];
    const properties = Object.fromEntries(names.map((name, index) => [name, { const: index }]));
    const { schema, names: back } = renameMembers(
      { type: 'object', properties, required: ['a/b', 'a_b'] },
      TAKEN,
    );
    expect(Object.entries(schema.properties as object)).toEqual([
      // Numbers stand first in every object.
      ['_1', { const: 4 }],
      ['a_b_3', { const: 0 }],
      ['a_b', { const: 1 }],
      ['a_b_4', { const: 2 }],
      ['a_b_5', { const: 3 }],
      ['_', { const: 5 }],
      ['a_b_2', { const: 6 }],
    ]);
    expect(schema.required).toEqual(['a_b_4', 'a_b']);
    expect(Object.fromEntries(back)).toEqual({ _1: '1', a_b_3: 'a b', a_b_4: 'a/b', a_b_5: 'a-b', _: 'á' });
  });

  it('lose what is said of them by their names', () => {
    const root = {
      type: 'object',
      properties: { 'a b': {} },
      dependentRequired: { 'a b': ['c'] },
      additionalProperties: false,
    };
    expect(renameMembers(root, TAKEN)).toEqual({
      schema: {
        type: 'object',
        properties: { a_b: {} },
        additionalProperties: false,
        description: 'dependentRequired: {"a b":["c"]}',
      },
      lost: ['dependentRequired'],
      names: new Map([['a_b', 'a b']]),
    });
  });
});
