import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FakePlatform, startFakePlatform } from '../testing/fake-platform.ts';
import { createTestIo, type TestIo } from '../testing/test-io.ts';

let platform: FakePlatform;
let io: TestIo;

beforeAll(async () => {
  platform = await startFakePlatform();
});
afterAll(() => platform.stop());
beforeEach(() => {
  platform.keys.clear();
  platform.calls.length = 0;
  io = createTestIo({ home: platform.home });
});

describe('keys create', () => {
  it('prints {"key": ...} and nothing else with --json', async () => {
    expect(await io.run('keys', 'create', '--scope', 'operator', '--json')).toBe(0);
    const [key] = [...platform.keys.keys()];
    expect(io.out()).toBe(`{"key":"${key}"}\n`);
    expect(io.err()).toBe('');
    expect(platform.calls[0]).toMatchObject({
      name: 'create_key',
      args: { scopes: ['operator'] },
      token: 'owner-1',
    });
  });

  it('prints the key alone on stdout otherwise, and how to end it on stderr', async () => {
    await io.run('keys', 'create', '--name', 'laptop', '--expires-in-days', '7');
    const [key, { id }] = [...platform.keys][0]!;
    expect(io.out()).toBe(`${key}\n`);
    expect(io.err()).toContain(`npx patchbay keys revoke ${id}`);
    expect(io.err()).not.toContain(key);
    // Without --scope the default is the platform's to know.
    expect(platform.calls[0]!.args).toEqual({ name: 'laptop', expiresInDays: 7 });
  });

  it('takes both scopes', async () => {
    await io.run('keys', 'create', '--scope', 'agents', '--scope', 'operator', '--json');
    expect(platform.calls[0]!.args.scopes).toEqual(['agents', 'operator']);
  });

  it('makes a bak_ with --agent', async () => {
    expect(await io.run('keys', 'create', '--agent', 'demo', '--json')).toBe(0);
    expect(JSON.parse(io.out()).key).toMatch(/^bak_/);
    expect(platform.calls[0]).toMatchObject({ name: 'create_agent_key', args: { agentId: 'demo' } });
  });

  it('makes one that expires, one for shared agents, and one for somebody else', async () => {
    platform.handlers.list_users = ({ login }) => ({
      count: 1,
      users: [{ userId: `user_${String(login).padEnd(20, 'x')}`, name: 'Bob', roles: [] }],
    });
    await io.run('keys', 'create', '--agent', 'demo', '--expires-in-days', '7', '--json');
    await io.run('keys', 'create', '--shared', '--user', 'Bob', '--json');
    await io.run('keys', 'list', '--user', 'user_aaaaaaaaaaaaaaaaaaaa', '--json');
    expect(platform.calls.map(({ name, args }) => [name, args])).toEqual([
      ['create_agent_key', { agentId: 'demo', expiresInDays: 7 }],
      ['list_users', { login: 'bob' }],
      ['create_key', { shared: true, userId: 'user_bobxxxxxxxxxxxxxxxxx' }],
      ['list_keys', { userId: 'user_aaaaaaaaaaaaaaaaaaaa' }],
    ]);
  });

  it.each([
    [['--scope', 'everything']],
    [['--agent', 'demo', '--scope', 'operator']],
    [['--agent', 'demo', '--shared']],
    [['--agent', 'demo', '--user', 'bob']],
    [['--expires-in-days', 'soon']],
    [['--colour', 'red']],
  ])('calls nobody and exits 2 for %j', async words => {
    expect(await io.run('keys', 'create', ...words)).toBe(2);
    expect(io.out()).toBe('');
    expect(io.err()).toMatch(/^patchbay: .+\n$/);
    expect(platform.calls).toEqual([]);
  });
});

describe('keys list and revoke', () => {
  it('lists keys by what can be shown and ends the named one', async () => {
    await io.run('keys', 'create', '--name', 'one');
    await io.run('keys', 'create', '--name', 'two', '--scope', 'operator');
    const listing = createTestIo({ home: platform.home });
    await listing.run('keys', 'list');
    const [one, two] = [...platform.keys.values()].map(key => key.id);
    const [header, first, second] = listing.out().split('\n');
    expect(header).toMatch(/^ID +NAME +KEY +OPENS +CREATED +EXPIRES +LAST USED$/);
    expect(first).toMatch(new RegExp(`^${one} +one +oag_\\w{8}\\.\\.\\. +agents +2026-11-30 +never +never$`));
    expect(second).toMatch(new RegExp(`^${two} +two +\\S+ +operator +2026-11-30 +2027-02-28 +never$`));

    expect(await listing.run('keys', 'revoke', one!)).toBe(0);
    expect([...platform.keys.values()].map(key => key.id)).toEqual([two]);
  });

  it('passes on why a key could not be revoked', async () => {
    expect(await io.run('keys', 'revoke', 'key_none')).toBe(1);
    expect(io.err()).toBe('patchbay: There is no key key_none.\n');
  });
});

describe('whose platform, as whom', () => {
  it('uses --key at the address of the running platform, before or after the command', async () => {
    const operator = `oag_${'a'.repeat(64)}`;
    platform.keys.set(operator, { id: 'key_op', scopes: ['operator'] });
    expect(await io.run('keys', 'list', '--json', '--key', operator)).toBe(0);
    expect(await io.run('--json', '--key', operator, 'keys', 'list')).toBe(0);
    expect(platform.calls.map(call => call.token)).toEqual([operator, operator]);
  });

  it('exits 3 when the key is refused', async () => {
    expect(await io.run('keys', 'list', '--key', 'oag_wrong')).toBe(3);
    expect(io.err()).toBe('patchbay: A key with the operator scope is needed.\n');
  });

  it('never sends the owner token to an address somebody named', async () => {
    const elsewhere = createTestIo({ home: platform.home, env: { PATCHBAY_URL: platform.url } });
    expect(await elsewhere.run('keys', 'list')).toBe(3);
    expect(platform.calls).toEqual([]);
  });

  it('reads PATCHBAY_DATA_DIR, and exits 4 with the folder where nothing was started', async () => {
    const empty = createTestIo({ home: platform.home, env: { PATCHBAY_DATA_DIR: 'nothing-here' } });
    expect(await empty.run('keys', 'list')).toBe(4);
    expect(empty.err()).toContain(`${platform.home}/nothing-here; start one with \`npx patchbay up\``);
  });

  it('reads ~/ in PATCHBAY_DATA_DIR as the platform does', async () => {
    const tilde = createTestIo({ home: platform.home, cwd: '/', env: { PATCHBAY_DATA_DIR: '~/.patchbay' } });
    expect(await tilde.run('keys', 'list')).toBe(0);
  });

  it('exits 4 where nobody answers and 2 for what is no address', async () => {
    expect(await io.run('keys', 'list', '--url', 'http://127.0.0.1:2')).toBe(4);
    expect(io.err()).toContain('No Patchbay answers at http://127.0.0.1:2. Start it with');
    expect(await io.run('keys', 'list', '--url', 'localhost:7070')).toBe(2);
  });
});
