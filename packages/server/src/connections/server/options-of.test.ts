// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import { describe, expect, it } from 'vitest';
import { compileText } from '../../secrets/reference-text.ts';
import { optionsOf, shownOptions } from './options-of.ts';
import { readServerOptions } from './server-options.ts';

const texts = { compile: (text: string) => compileText(text, name => name.startsWith('PATCHBAY_REF_')) };
const read = (options: unknown) =>
  readServerOptions(options, { ref: { scope: 'default', name: 'one' }, source: 'code', texts });

const EVERYTHING = {
  ...{
    only: ['a'],
    except: ['b'],
    prefix: '',
    timeout: 1,
    connectTimeout: 2,
    maxResultBytes: 3,
    gated: false,
  },
  ...{ trusted: true, descriptions: 'governed', cost: { usd: 1 }, changedTools: 'hold' },
  expect: ['a', { name: 'b', arguments: ['c'] }],
};

describe('the options of a definition', () => {
  it.each([
    { url: 'https://a.example/mcp', headers: { a: 'b' }, insecureTls: true, ...EVERYTHING },
    { command: 'x', args: ['y'], env: { A: 'b' }, cwd: '/tmp', isolation: 'person', ...EVERYTHING },
    { url: 'https://a.example/mcp' },
    {
      url: 'https://a.example/mcp',
      oauth: { clientId: 'us', clientSecret: '${vault:x}', sendResource: false },
    },
    { url: 'https://a.example/mcp', gated: true },
    { command: 'x', gated: ['create_*', 'drop'] },
    { command: 'x' },
  ])('mean it again: %j', options => {
    const definition = read(options);
    expect(optionsOf(definition)).toMatchObject(options);
    expect(read(JSON.parse(JSON.stringify(optionsOf(definition))))).toEqual(definition);
  });

  it('show people no value but references', () => {
    const http = read({
      url: 'https://a.example/mcp?key=canary1#canary1',
      headers: {
        a: 'canary1',
        b: 'Bearer ${vault:b}',
        c: 'canary1 ${vars:c}',
        d: '${PATCHBAY_REF_D:canary1}',
      },
      cost: () => ({ usd: 1 }),
    });
    const shown = shownOptions(http);
    expect(shown).toMatchObject({
      url: 'https://a.example/mcp',
      headers: { a: '(set)', b: '${vault:b}', c: '${vars:c}', d: '(set)' },
      cost: '(a function)',
    });
    const stdio = shownOptions(read({ command: 'x', args: ['y'], env: { A: 'canary1', B: '$${vault:b}' } }));
    expect(stdio).toMatchObject({ command: 'x', args: ['y'], env: { A: '(set)', B: '(set)' } });
    expect(JSON.stringify([shown, stdio])).not.toContain('canary1');
  });
});
