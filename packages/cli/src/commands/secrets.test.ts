// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../testing/eventually.ts';
import { type FakePlatform, startFakePlatform } from '../testing/fake-platform.ts';
import { createTestIo, type TestIo } from '../testing/test-io.ts';

let platform: FakePlatform;
let io: TestIo;

beforeAll(async () => {
  platform = await startFakePlatform();
  const info = {
    checksum: 'c',
    createdBy: 'u',
    createdOn: 0,
    modifiedBy: 'u',
    modifiedOn: Date.UTC(2026, 10, 30),
  };
  const names = Array.from({ length: 130 }, (_, index) => `s${String(index).padStart(3, '0')}`);
  Object.assign(platform.handlers, {
    put_secret: ({ value: _, name, description = '', allowedAgents = [] }: Record<string, unknown>) => {
      return { ...info, name, description, allowedAgents, created: true };
    },
    list_secrets: ({ after = '', limit }: Record<string, string>) => {
      const secrets = names
        .filter(name => name > after!)
        .slice(0, Number(limit))
        .map(name => ({
          ...info,
          name,
          description: 'of a test',
          allowedAgents: name === 's001' ? ['clerk'] : [],
        }));
      return { count: secrets.length, secrets };
    },
    delete_secret: ({ name }: { name: string }) => ({ name, deleted: true }),
    rotate_secrets: () => ({ count: 3, damaged: ['crm-key'] }),
    put_variable: ({ name, value, exportable = true }: Record<string, unknown>) => {
      return { ...info, name, value, exportable, description: '', created: false };
    },
    list_variables: () => ({
      count: 1,
      variables: [
        { ...info, name: 'crm-url', value: 'https://crm.example.com', description: '', exportable: false },
      ],
    }),
    delete_variable: ({ name }: { name: string }) => ({ name, deleted: true }),
  });
});
afterAll(() => platform.stop());
beforeEach(() => {
  platform.calls.length = 0;
  io = createTestIo({ home: platform.home });
});

const lastCall = () => platform.calls.at(-1);

describe('patchbay secrets set', () => {
  it('reads the value from standard input, without its last line break only', async () => {
    io.stdin.end('two\nlines \n');
    expect(await io.run('secrets', 'set', 'crm-key', '--description', 'of it')).toBe(0);
    expect(lastCall()).toMatchObject({
      name: 'put_secret',
      args: { name: 'crm-key', value: 'two\nlines ', description: 'of it' },
    });
    expect(io.out()).toBe(
      'Stored crm-key, for every agent. Configuration refers to it as ${vault:crm-key}.\n',
    );
    expect(io.err()).toBe('');
  });

  it('asks a person, and shows nothing of what they type', async () => {
    io = createTestIo({ home: platform.home, terminal: true });
    const done = io.run('secrets', 'set', 'crm-key');
    await eventually(() => expect(io.err()).toContain('Value of crm-key (not shown): '));
    io.stdin.write('typed secret\r');
    expect(await done).toBe(0);
    expect(lastCall()?.args).toMatchObject({ value: 'typed secret' });
    expect(io.out() + io.err()).not.toContain('typed');
  });

  it('changes nothing when the person leaves the prompt', async () => {
    io = createTestIo({ home: platform.home, terminal: true });
    const done = io.run('secrets', 'set', 'crm-key');
    await eventually(() => expect(io.err()).toContain('Value of crm-key'));
    io.stdin.write('half\u0003');
    expect(await done).toBe(1);
    expect(io.err()).toContain('Nothing was changed.');
    expect(platform.calls).toEqual([]);
  });

  it('takes the value as an option with a warning, and repeats it nowhere', async () => {
    expect(await io.run('secrets', 'set', 'crm-key', '--value', 'given secret')).toBe(0);
    expect(lastCall()?.args).toMatchObject({ value: 'given secret' });
    expect(io.err()).toContain('stands in the history of your shell');
    expect(io.out() + io.err()).not.toContain('given secret');
  });

  it('changes who may use a secret without its value', async () => {
    expect(await io.run('secrets', 'set', 'crm-key', '--keep-value', '--agents', 'clerk, cashier')).toBe(0);
    expect(lastCall()?.args).toEqual({ name: 'crm-key', allowedAgents: ['clerk', 'cashier'] });
    expect(io.out()).toContain('for clerk, cashier.');
    expect(await io.run('secrets', 'set', 'crm-key', '--keep-value', '--agents', 'all')).toBe(0);
    expect(lastCall()?.args).toEqual({ name: 'crm-key', allowedAgents: [] });
  });

  it('refuses no value and two ways to give it', async () => {
    io.stdin.end('\n');
    expect(await io.run('secrets', 'set', 'crm-key')).toBe(2);
    expect(io.err()).toContain('No value was given');
    expect(await io.run('secrets', 'set', 'crm-key', '--keep-value', '--value', 'given')).toBe(2);
    expect(platform.calls).toEqual([]);
  });
});

describe('patchbay secrets', () => {
  it('lists every page', async () => {
    expect(await io.run('secrets', 'list')).toBe(0);
    const lines = io.out().trimEnd().split('\n');
    expect(lines).toHaveLength(131);
    expect(lines[2]).toMatch(/^s001 +clerk +2026-11-30 +never +of a test$/);
    const json = createTestIo({ home: platform.home });
    await json.run('secrets', 'list', '--json');
    expect(JSON.parse(json.out())).toMatchObject({ count: 130 });
  });

  it('removes one', async () => {
    expect(await io.run('secrets', 'remove', 'crm-key')).toBe(0);
    expect([lastCall()?.args, io.out()]).toEqual([{ name: 'crm-key' }, 'Removed crm-key.\n']);
  });

  it('rotates, and fails where one does not open', async () => {
    expect(await io.run('secrets', 'rotate')).toBe(1);
    expect(io.out()).toBe('Encrypted 3 secrets with a new data key.\n');
    expect(io.err()).toContain('store them again: crm-key.');
  });

  it('makes a key without a platform, another one each time', async () => {
    const nowhere = createTestIo({ home: '/nowhere' });
    expect(await nowhere.run('secrets', 'new-key')).toBe(0);
    expect(await nowhere.run('secrets', 'new-key')).toBe(0);
    const keys = nowhere.out().trimEnd().split('\n');
    expect(new Set(keys).size).toBe(2);
    expect(keys.map(key => Buffer.from(key, 'base64').length)).toEqual([32, 32]);
  });
});

describe('patchbay vars', () => {
  it('sets, lists and removes', async () => {
    expect(
      await io.run('vars', 'set', 'crm-url', '--value', 'https://crm.example.com', '--no-exportable'),
    ).toBe(0);
    expect(lastCall()?.args).toEqual({
      name: 'crm-url',
      value: 'https://crm.example.com',
      exportable: false,
    });
    io.stdin.end('from a pipe\n');
    expect(await io.run('vars', 'set', 'crm-url')).toBe(0);
    expect(lastCall()?.args).toEqual({ name: 'crm-url', value: 'from a pipe' });
    expect(await io.run('vars', 'list')).toBe(0);
    expect(io.out()).toMatch(/^crm-url +https:\/\/crm\.example\.com +no$/m);
    expect(await io.run('vars', 'remove', 'crm-url')).toBe(0);
    expect(lastCall()).toMatchObject({ name: 'delete_variable', args: { name: 'crm-url' } });
  });
});
