import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Io } from '../io.ts';
import { type FakePlatform, startFakePlatform } from '../testing/fake-platform.ts';
import { createTestIo } from '../testing/test-io.ts';

let platform: FakePlatform;

beforeAll(async () => {
  platform = await startFakePlatform();
});
afterAll(() => platform.stop());
beforeEach(async () => {
  platform.keys.clear();
  platform.calls.length = 0;
  await rm(join(platform.home, '.cursor'), { recursive: true, force: true });
});

const newIo = (over: Partial<Io> = {}) => createTestIo({ home: platform.home, ...over });
const onlyKey = (): string => [...platform.keys.keys()][0]!;

describe('connect', () => {
  it.each([
    ['claude-code', 'mcpServers', { type: 'http' }, 'type /mcp'],
    ['cursor', 'mcpServers', {}, 'press Connect'],
    ['vscode', 'servers', { type: 'http' }, 'asks whether you want to sign in'],
  ])('prints an entry without a key for %s, and how to sign in', async (host, member, extras, how) => {
    const io = newIo();
    expect(await io.run('connect', host)).toBe(0);
    expect(JSON.parse(io.out())).toEqual({
      [member]: { patchbay: { ...extras, url: `${platform.url}/mcp` } },
    });
    expect(io.err()).toContain(how);
    expect(platform.calls).toEqual([]);
  });

  it('prints the entry with a key made for it on demand, and no command line to leave the key in', async () => {
    const io = newIo();
    expect(await io.run('connect', 'claude-code', '--with-key')).toBe(0);
    expect(JSON.parse(io.out())).toEqual({
      mcpServers: {
        patchbay: {
          type: 'http',
          url: `${platform.url}/mcp`,
          headers: { Authorization: `Bearer ${onlyKey()}` },
        },
      },
    });
    expect(io.err()).not.toContain(onlyKey());
    expect(io.err()).not.toContain('sign in');
    expect(platform.calls[0]).toMatchObject({
      name: 'create_key',
      args: { name: 'claude-code', scopes: ['operator'] },
    });
    const { id } = platform.keys.get(onlyKey())!;
    expect(io.err()).toContain(`Made key ${id} for Claude Code, expires 2027-02-28.`);
    expect(io.err()).toContain(`npx patchbay keys revoke ${id}`);
  });

  it('gives one agent a key that opens nothing else', async () => {
    const io = newIo();
    await io.run('connect', 'cursor', '--agent', 'demo', '--with-key');
    expect(JSON.parse(io.out())).toEqual({
      mcpServers: {
        'patchbay-demo': {
          url: `${platform.url}/demo/mcp`,
          headers: { Authorization: `Bearer ${onlyKey()}` },
        },
      },
    });
    expect(onlyKey()).toMatch(/^bak_/);
  });

  it('puts a given key into the entry as it is and makes none', async () => {
    const io = newIo();
    await io.run('connect', 'cursor', '--key', 'oag_mine', '--url', 'https://patchbay.example/', '--json');
    expect(JSON.parse(io.out()).entry).toEqual({
      url: 'https://patchbay.example/mcp',
      headers: { Authorization: 'Bearer oag_mine' },
    });
    expect(platform.calls).toEqual([]);
  });

  it('gives a host that speaks only stdio the bridge, without a key, platform running or not', async () => {
    const io = newIo();
    await io.run('connect', 'claude-desktop', '--agent', 'demo');
    expect(JSON.parse(io.out())).toEqual({
      mcpServers: { 'patchbay-demo': { command: '/opt/node', args: ['/opt/patchbay.mjs', 'stdio', 'demo'] } },
    });
    const elsewhere = newIo({ env: { PATCHBAY_URL: 'https://patchbay.example', PATCHBAY_KEY: 'oag_mine' } });
    await elsewhere.run('connect', 'claude-desktop');
    expect(JSON.parse(elsewhere.out()).mcpServers.patchbay).toEqual({
      command: '/opt/node',
      args: ['/opt/patchbay.mjs', 'stdio'],
      env: { PATCHBAY_URL: 'https://patchbay.example', PATCHBAY_KEY: 'oag_mine' },
    });
    const folder = newIo({ cwd: '/work', env: { PATCHBAY_DATA_DIR: 'data' } });
    await folder.run('connect', 'claude-desktop');
    expect(JSON.parse(folder.out()).mcpServers.patchbay.env).toEqual({ PATCHBAY_DATA_DIR: '/work/data' });
    expect(platform.calls).toEqual([]);
  });

  it.each([
    [['emacs'], /Allowed choices are claude-code, claude-desktop, cursor, vscode/],
    [['cursor', '--agent', 'Not An Id'], /'Not An Id' is no id of an agent/],
  ])('exits 2 for %j', async (words, sentence) => {
    const io = newIo();
    expect(await io.run('connect', ...words)).toBe(2);
    expect(io.err()).toMatch(sentence);
  });
});

describe('connect --write', () => {
  it('merges into the file, and twice makes one key', async () => {
    const file = join(platform.home, '.cursor', 'mcp.json');
    await mkdir(join(platform.home, '.cursor'));
    await writeFile(file, '{"mcpServers":{"other":{"url":"http://other"}}}');
    const io = newIo();
    expect(await io.run('connect', 'cursor', '--with-key', '--write')).toBe(0);
    expect(io.out()).toContain(`Added patchbay in ${file}.`);
    expect(io.out()).toContain('.bak');
    expect(io.out()).not.toContain(onlyKey());
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
      mcpServers: {
        other: { url: 'http://other' },
        patchbay: { url: `${platform.url}/mcp`, headers: { Authorization: `Bearer ${onlyKey()}` } },
      },
    });

    const again = newIo();
    await again.run('connect', 'cursor', '--with-key', '--write');
    expect(again.out()).toContain('nothing was changed');
    expect(platform.keys.size).toBe(1);

    platform.keys.clear();
    const revoked = newIo({ now: () => Date.UTC(2026, 11, 1) });
    await revoked.run('connect', 'cursor', '--with-key', '--write');
    expect(revoked.out()).toContain('Replaced patchbay');
    expect(await readFile(file, 'utf8')).toContain(onlyKey());

    const signedIn = newIo({ now: () => Date.UTC(2026, 11, 2) });
    await signedIn.run('connect', 'cursor', '--write');
    expect(signedIn.out()).toContain('Replaced patchbay');
    expect(signedIn.out()).toContain('held a key, which goes on: `npx patchbay keys list` shows it');
    expect(JSON.parse(await readFile(file, 'utf8')).mcpServers.patchbay).toEqual({
      url: `${platform.url}/mcp`,
    });
  });

  it('makes no key for a file it cannot merge into', async () => {
    await mkdir(join(platform.home, '.cursor'));
    await writeFile(join(platform.home, '.cursor', 'mcp.json'), '{ broken');
    const io = newIo();
    expect(await io.run('connect', 'cursor', '--with-key', '--write')).toBe(1);
    expect(io.err()).toMatch(/mcp\.json is not plain JSON/);
    expect(platform.keys.size).toBe(0);
  });

  it.each([
    ['claude-code', 'linux', {}, '.claude.json'],
    ['claude-code', 'linux', { CLAUDE_CONFIG_DIR: 'HOME/c' }, 'c/.claude.json'],
    ['claude-desktop', 'darwin', {}, 'Library/Application Support/Claude/claude_desktop_config.json'],
    ['claude-desktop', 'linux', { XDG_CONFIG_HOME: 'HOME/x' }, 'x/Claude/claude_desktop_config.json'],
    ['vscode', 'win32', { APPDATA: 'HOME/Roaming' }, 'Roaming/Code/User/mcp.json'],
    ['vscode', 'linux', {}, '.config/Code/User/mcp.json'],
  ] as const)('knows where %s on %s keeps its servers (%j)', async (host, osPlatform, variables, path) => {
    const env = Object.fromEntries(
      Object.entries(variables).map(([name, value]) => [name, value.replace('HOME', platform.home)]),
    );
    const io = newIo({ osPlatform, env });
    await io.run('connect', host, '--write', '--json');
    expect(JSON.parse(io.out())).toMatchObject({ file: join(platform.home, path), change: 'added' });
  });
});
