import { describe, expect, it } from 'vitest';
import { DIALECTS } from './dialects.ts';
import { mendSchema, withoutBrokenReferences } from './mend-schema.ts';

const OPENAI = DIALECTS.openai.schema.refuses!;
const ANTHROPIC = DIALECTS.anthropic.schema.refuses!;

function argument(schema: unknown, refuses = ANTHROPIC) {
  const { schema: mended, losses } = mendSchema({ type: 'object', properties: { a: schema } }, refuses);
  const { a } = mended.properties as { a: unknown };
  return { schema: a, lost: losses.map(({ path, what }) => `${path} ${what}`) };
}

describe('a schema with as little changed as a provider asks for', () => {
  it.each([
    ['an exclusive limit', { minimum: 1, exclusiveMinimum: true }, { exclusiveMinimum: 1 }],
    ['a limit that is not exclusive', { maximum: 1, exclusiveMaximum: false }, { maximum: 1 }],
    ['a flag without a limit', { exclusiveMaximum: true }, {}],
    [
      'a tuple',
      { items: [{ const: 1 }, {}], additionalItems: false },
      { prefixItems: [{ const: 1 }, {}], items: false },
    ],
    ['an empty tuple', { items: [] }, {}],
    [
      'dependencies',
      { dependencies: { x: ['y'], z: { minProperties: 2 }, n: null } },
      { dependentRequired: { x: ['y'] }, dependentSchemas: { z: { minProperties: 2 } } },
    ],
    [
      'a name twice',
      { required: ['x', 'x'], type: ['string', 'string'] },
      { required: ['x'], type: ['string'] },
    ],
  ])('says what older drafts say in the words of today: %s', (_, before, after) => {
    expect(argument(before)).toEqual({ schema: after, lost: [] });
  });

  it('says in words what is malformed', () => {
    const malformed = {
      minLength: '3',
      multipleOf: 0,
      examples: { a: 1 },
      uniqueItems: 'yes',
      pattern: '(?i)a',
      anyOf: [],
    };
    const words =
      'minLength: 3; multipleOf: 0; examples: {"a":1}; uniqueItems: yes; pattern: (?i)a; anyOf: []';
    expect(argument({ description: 'It.', ...malformed })).toEqual({
      schema: { description: `It. (${words})` },
      lost: Object.keys(malformed).map(keyword => `/properties/a ${keyword}`),
    });
  });

  it('keeps all that is not refused', () => {
    const schema = {
      ...{
        type: ['string', 'null'],
        nullable: true,
        pattern: '^(?!a)',
        format: 'uuid',
        'x-a': [1],
        default: null,
      },
      ...{ oneOf: [{ const: 1 }, { $ref: '#/properties/a/oneOf/0' }], not: { enum: [2] }, $comment: 'b' },
    };
    expect(argument(schema)).toEqual({ schema, lost: [] });
  });

  it('has for OpenAI items in lists, members at the root, and neither names in patterns nor patterns that look around', () => {
    expect(argument({ type: ['array', 'null'] }, OPENAI).schema).toEqual({
      type: ['array', 'null'],
      items: {},
    });
    expect(argument({ pattern: 'a(?<!b)' }, OPENAI)).toEqual({
      schema: { description: 'pattern: a(?<!b)' },
      lost: ['/properties/a pattern'],
    });
    expect(argument({ propertyNames: { type: 'string' } }, OPENAI)).toEqual({ schema: {}, lost: [] });
    expect(argument({ propertyNames: { maxLength: 3 } }, OPENAI)).toEqual({
      schema: { description: 'propertyNames: {"maxLength":3}' },
      lost: ['/properties/a propertyNames'],
    });
    expect(mendSchema({ type: 'object' }, OPENAI).schema).toEqual({ type: 'object', properties: {} });
    expect(mendSchema({ type: 'object' }, ANTHROPIC).schema).toEqual({ type: 'object' });
  });

  it('is one object at its root, with what was referred to there', () => {
    const root = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $ref: '#/$defs/base',
      allOf: [{ if: { required: ['b'] }, else: { required: ['a'] } }],
      anyOf: [{ required: ['a'] }, { required: ['b', 'c'] }],
      not: { required: ['d'] },
      $defs: {
        base: { properties: { a: { $ref: '#/$defs/text' } }, required: ['a'] },
        text: { type: 'string' },
      },
    };
    const condition = { if: { required: ['b'] }, else: { required: ['a'] } };
    const rest = {
      ...{ $schema: root.$schema, type: 'object', $defs: root.$defs, ...condition },
      ...{ properties: { a: { $ref: '#/$defs/text' } }, required: ['a'] },
    };
    const words = 'one of: (a) or (b, c)';
    expect(mendSchema(root, ANTHROPIC)).toEqual({
      schema: { ...rest, description: words, not: root.not },
      losses: [{ path: '', what: 'anyOf' }],
    });
    expect(mendSchema(root, OPENAI)).toEqual({
      schema: { ...rest, description: `${words}; not: {"required":["d"]}` },
      losses: [
        { path: '', what: 'anyOf' },
        { path: '', what: 'not' },
      ],
    });
  });

  it('refers to nothing that is not there', () => {
    const nowhere = { $ref: '#/$defs/none', description: 'It.' };
    expect(argument(nowhere)).toEqual({ schema: { description: 'It.' }, lost: ['/properties/a $ref'] });
    const root = { type: 'object', properties: { a: { $ref: '#' }, b: { $ref: '#/properties/c' }, c: {} } };
    expect(withoutBrokenReferences(root, false)).toEqual({ schema: root, losses: [] });
    expect(withoutBrokenReferences(root, true)).toEqual({
      schema: { ...root, properties: { ...root.properties, a: {} } },
      losses: [{ path: '/properties/a', what: '$ref' }],
    });
  });
});
