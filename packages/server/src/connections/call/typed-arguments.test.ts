import { describe, expect, it } from 'vitest';
import { typedArguments } from './typed-arguments.ts';

const typed = (value: unknown, schema: object) =>
  typedArguments({ it: value }, { type: 'object', properties: { it: schema } }).it;

describe('a text where the tool takes something else', () => {
  it.each([
    ['42', { type: 'integer' }, 42],
    ['-7', { type: 'integer' }, -7],
    ['1e3', { type: 'integer' }, 1000],
    ['1.5', { type: 'number' }, 1.5],
    ['true', { type: 'boolean' }, true],
    ['false', { type: ['boolean', 'null'] }, false],
    ['3', { anyOf: [{ type: 'integer' }, { type: 'null' }] }, 3],
    ['3', { $ref: '#/properties/it/definitions/n', definitions: { n: { type: 'integer' } } }, 3],
  ])('is that: %j for %j', (text, schema, value) => {
    expect(typed(text, schema)).toBe(value);
  });

  it.each([
    ['1.5', { type: 'integer' }],
    ['9007199254740993', { type: 'integer' }],
    ['1e999', { type: 'number' }],
    [' 42', { type: 'integer' }],
    ['0x10', { type: 'integer' }],
    ['007', { type: 'integer' }],
    ['', { type: 'number' }],
    ['yes', { type: 'boolean' }],
    ['True', { type: 'boolean' }],
    ['42', { type: 'string' }],
    ['42', { type: ['integer', 'string'] }],
    ['42', { anyOf: [{ type: 'integer' }, {}] }],
    ['42', {}],
    ['42', { type: 'object' }],
    ['42', { $ref: '#/nowhere' }],
  ])('stays a text: %j for %j', (text, schema) => {
    expect(typed(text, schema)).toBe(text);
  });

  it('is looked for in lists and objects, also behind references that go round in a circle', () => {
    const tree = {
      type: 'object',
      properties: {
        n: { type: 'integer' },
        next: { $ref: '#/properties/it' },
        all: { type: 'array', items: { type: 'number' } },
      },
    };
    expect(typed({ n: '1', next: { n: '2', all: ['3', 'x'] }, other: '4' }, tree)).toEqual({
      n: 1,
      next: { n: 2, all: [3, 'x'] },
      other: '4',
    });
    const circle = { $ref: '#/properties/it' };
    expect(typed('1', circle)).toBe('1');
  });
});
