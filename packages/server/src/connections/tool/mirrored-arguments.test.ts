import { describe, expect, it } from 'vitest';
import { brokenHeaderRule, mirroredArguments } from './mirrored-arguments.ts';

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

describe('the headers of a call', () => {
  const schema = withProperties({
    region: { type: 'string', 'x-mcp-header': 'Region' },
    limit: { type: 'integer', 'x-mcp-header': 'Limit' },
    dry: { type: 'boolean', 'x-mcp-header': 'Dry-Run' },
    more: withProperties({ id: { type: 'string', 'x-mcp-header': 'Id' } }),
    plain: { type: 'string' },
  });

  it('say the arguments that are mirrored again', () => {
    const given = { region: 'eu\r\nwest é', limit: -7, dry: false, more: { id: '' }, plain: 'x' };
    expect(mirroredArguments(schema, given)).toEqual({
      'Mcp-Param-Region': 'eu\r\nwest é',
      'Mcp-Param-Limit': '-7',
      'Mcp-Param-Dry-Run': 'false',
      'Mcp-Param-Id': '',
    });
  });

  it.each([
    ['what is not given', {}],
    ['null', { region: null, limit: null, more: null }],
    ['what is no such value', { region: {}, limit: 1.5, dry: [], more: [] }],
    ['a number that two readers would see differently', { limit: 2 ** 53 }],
    ['what only a prototype has', Object.create({ region: 'eu' })],
  ])('do not say %s', (_, given) => {
    expect(mirroredArguments(schema, given)).toEqual({});
  });
});
