import { describe, expect, it } from 'vitest';
import { brokenHeaderRule } from './mirrored-arguments.ts';

const withProperties = (properties: object) => ({ type: 'object', properties });
const region = (rest: object) =>
  withProperties({ region: { type: 'string', 'x-mcp-header': 'Region', ...rest } });

describe('arguments that go out as headers', () => {
  it.each([
    ['none', withProperties({ a: { type: 'number' } })],
    ['a string', region({})],
    ['an integer', region({ type: 'integer' })],
    ['a boolean', region({ type: 'boolean' })],
    ['a deep one', withProperties({ a: withProperties({ b: { type: 'string', 'x-mcp-header': 'B' } }) })],
    ['one of that name', withProperties({ 'x-mcp-header': { type: 'object' } })],
    ['one in a value', region({ default: { 'x-mcp-header': 1 } })],
  ])('are taken: %s', (_, schema) => {
    expect(brokenHeaderRule(schema)).toBeUndefined();
  });

  it.each([
    [
      'a number',
      region({ type: 'number' }),
      'x-mcp-header stands at an argument that is no string, integer or boolean',
    ],
    ['a list of types', region({ type: ['string'] }), 'no string, integer or boolean'],
    ['no type', region({ type: undefined }), 'no string, integer or boolean'],
    ['an empty name', region({ 'x-mcp-header': '' }), 'is not the name of a header'],
    ['a name that ends the line', region({ 'x-mcp-header': 'A\r\nHost: x' }), 'is not the name of a header'],
    ['no text', region({ 'x-mcp-header': 1 }), 'is not the name of a header'],
    ['the root', { ...region({}), 'x-mcp-header': 'All' }, 'x-mcp-header stands where no argument is'],
    [
      'an entry of a list',
      withProperties({ a: { type: 'array', items: { type: 'string', 'x-mcp-header': 'A' } } }),
      'where no argument is',
    ],
    ['a branch', { anyOf: [region({})] }, 'where no argument is'],
    ['behind a reference', { $defs: { a: { type: 'string', 'x-mcp-header': 'A' } } }, 'where no argument is'],
    ['properties of a branch', withProperties({ a: { allOf: [region({})] } }), 'where no argument is'],
    [
      'the same twice',
      withProperties({
        a: { type: 'string', 'x-mcp-header': 'Region' },
        b: { type: 'string', 'x-mcp-header': 'REGION' },
      }),
      'names the header region twice',
    ],
  ])('are refused: %s', (_, schema, says) => {
    expect(brokenHeaderRule(schema)).toContain(says);
  });
});
