import { describe, expect, it } from 'vitest';
import { renderOpenApi } from './openapi.ts';
import { sendsBody } from './operation.ts';
import { errorsOf } from './operation-errors.ts';
import { createKey, listKeys } from './operations/keys.ts';
import { describeOperations } from './reference.ts';

const operations = describeOperations();

describe('the reference', () => {
  it.each(operations.map(reference => [reference.definition.name, reference] as const))(
    'of %s has a recorded example, and its path arguments among the arguments',
    (_name, { definition, arguments: { properties }, example }) => {
      expect(example, '`npm run generate` records it').toBeDefined();
      const inPath = [...definition.rest.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
      expect(inPath.filter(name => !Object.hasOwn(properties, name))).toEqual([]);
    },
  );

  it.each(
    operations
      .filter(({ definition }) => !sendsBody(definition.rest.method))
      .map(reference => [reference.definition.name, reference] as const),
  )('of %s has only arguments that an address can carry', (_name, { arguments: { properties } }) => {
    const types = Object.values(properties).flatMap(({ type }) => type);
    expect(types.filter(type => !['string', 'number', 'integer', 'boolean'].includes(type!))).toEqual([]);
  });
});

describe('errors', () => {
  it('are only those a route can answer', () => {
    expect(errorsOf(createKey)).toEqual([
      ...['invalid', 'unauthenticated', 'forbidden', 'not_found', 'disabled'],
      ...['too_large', 'internal'],
    ]);
    expect(errorsOf(listKeys)).toEqual(['invalid', 'unauthenticated', 'forbidden', 'internal']);
  });
});

describe('the document', () => {
  it('says nothing of an installation: two renderings are the same', () => {
    expect(JSON.stringify(renderOpenApi())).toBe(JSON.stringify(renderOpenApi()));
  });

  it('does without examples that are not recorded yet', () => {
    expect(JSON.stringify(renderOpenApi({}))).not.toContain('conv_');
  });
});
