import { describe, expect, it } from 'vitest';
import { missingFrom } from './expected-tools.ts';

const problems = (schema: object, given: readonly string[] | undefined, name = 'search') =>
  missingFrom([{ name: 'search', inputSchema: { type: 'object', ...schema } }], [{ name, arguments: given }]);
const requires = (name: string) => `The tool "search" requires the argument "${name}", which is not given.`;
const unknown = (name: string) => `The tool "search" does not know the argument "${name}".`;

describe('a tool that is counted on', () => {
  it('must be there (A-46)', () => {
    expect(problems({}, undefined, 'find')).toEqual(['The server has no tool "find".']);
    expect(problems({}, ['a'], 'toString')).toEqual(['The server has no tool "toString".']);
    expect(problems({}, undefined)).toEqual([]);
  });
  it('is not looked at further when only its name counts (A-46)', () => {
    expect(problems({ required: ['query'] }, undefined)).toEqual([]);
  });

  const schema = { properties: { query: {}, limit: {} }, required: ['query'] };
  it('fits the arguments it is given (A-48)', () => {
    expect(problems(schema, ['query'])).toEqual([]);
    expect(problems(schema, ['limit', 'query'])).toEqual([]);
  });
  it('must get what its schema requires (A-49)', () => {
    expect(problems(schema, ['limit'])).toEqual([requires('query')]);
    expect(problems({ required: ['a', 'b'] }, [])).toEqual([requires('a'), requires('b')]);
  });
  it('must know what it is given (A-50)', () => {
    expect(problems(schema, ['query', 'sort', 'constructor'])).toEqual([
      unknown('sort'),
      unknown('constructor'),
    ]);
    expect(problems({}, ['a'])).toEqual([unknown('a')]);
    expect(problems({ ...schema, additionalProperties: false }, ['query', 'sort'])).toEqual([
      unknown('sort'),
    ]);
  });
  it.each([
    ['true', { additionalProperties: true }],
    ['a schema', { additionalProperties: { type: 'string' } }],
    ['true of what is not evaluated', { unevaluatedProperties: true }],
    ['behind a reference', { $ref: '#/$defs/open', $defs: { open: { additionalProperties: {} } } }],
  ])('may get more where its schema says so: %s (A-51)', (_, open) => {
    expect(problems({ ...schema, ...open }, ['query', 'sort'])).toEqual([]);
    expect(problems({ ...schema, ...open }, ['sort'])).toEqual([requires('query')]);
  });
  it('is read through references and branches (A-48)', () => {
    const branches = {
      $ref: '#/$defs/base',
      $defs: { base: { properties: { a: {} }, required: ['a'], allOf: [{ $ref: '#' }] } },
      allOf: [{ properties: { b: {} }, required: ['b'] }],
      anyOf: [
        { properties: { c: {} }, required: ['c'] },
        { properties: { d: {} }, required: ['d'] },
      ],
    };
    expect(problems(branches, ['a', 'b', 'd'])).toEqual([]);
    expect(problems(branches, ['c', 'x'])).toEqual([requires('a'), requires('b'), unknown('x')]);
    const shared = {
      anyOf: [{ $ref: '#/$defs/a' }],
      allOf: [{ $ref: '#/$defs/a' }],
      $defs: { a: { required: ['a'] } },
    };
    expect(problems(shared, [])).toEqual([requires('a')]);
  });
});
