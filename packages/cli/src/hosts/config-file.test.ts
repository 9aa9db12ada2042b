import { chmod, lstat, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readEntry, writeEntry } from './config-file.ts';

const NOW = Date.UTC(2026, 10, 30, 12);
const entry = { url: 'http://127.0.0.1:7070/mcp', headers: { Authorization: 'Bearer oag_1' } };

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'patchbay-hosts-'));
  file = join(folder, 'mcp.json');
});
afterEach(() => rm(folder, { recursive: true }));

const write = (value: unknown = entry, now = NOW) =>
  writeEntry(file, 'mcpServers', 'patchbay', value as typeof entry, now);
const read = async () => JSON.parse(await readFile(file, 'utf8'));

describe('writeEntry', () => {
  it('makes the file and its folder, readable by the owner only', async () => {
    file = join(folder, 'new', 'mcp.json');
    expect(await write()).toEqual({ file, change: 'added' });
    expect(await read()).toEqual({ mcpServers: { patchbay: entry } });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(join(folder, 'new'))).toEqual(['mcp.json']);
  });

  it('keeps everything else, the order and the indentation, and a backup of the file as it was', async () => {
    const before =
      '{\n    "theme": "dark",\n    "mcpServers": {\n        "other": {"command": "x"}\n    },\n    "last": 1\n}\n';
    await writeFile(file, before);
    const written = await write();
    expect(written).toEqual({ file, change: 'added', backup: `${file}.2026-11-30T12-00-00.000Z.bak` });
    const after = await readFile(file, 'utf8');
    expect(JSON.parse(after)).toEqual({
      theme: 'dark',
      mcpServers: { other: { command: 'x' }, patchbay: entry },
      last: 1,
    });
    expect(Object.keys(JSON.parse(after))).toEqual(['theme', 'mcpServers', 'last']);
    expect(after).toContain('\n    "theme"');
    expect(await readFile(written.backup!, 'utf8')).toBe(before);
  });

  const modes = async (...files: string[]) =>
    Promise.all(files.map(async name => ((await stat(name)).mode & 0o777).toString(8)));
  const bridge = { command: '/opt/node', args: ['stdio'] };

  it.each([
    ['a file everybody reads', 0o644, entry, ['600', '600']],
    ['a file its group writes', 0o664, entry, ['600', '600']],
    ['a stricter file', 0o400, entry, ['400', '400']],
    ['a file that gets an entry without a key', 0o644, bridge, ['644', '600']],
    [
      'a file that gets a bridge with a key',
      0o644,
      { ...bridge, env: { PATCHBAY_KEY: 'oag_1' } },
      ['600', '600'],
    ],
    [
      'a file that gets a bridge without one',
      0o640,
      { ...bridge, env: { PATCHBAY_URL: 'x' } },
      ['640', '600'],
    ],
  ])('keeps keys from others: %s', async (_, mode, added, after) => {
    await writeFile(file, '{}');
    await chmod(file, mode);
    const { backup } = await write(added);
    expect(await modes(file, backup!)).toEqual(after);
  });

  it('closes a file that already had the key in it', async () => {
    await write();
    await chmod(file, 0o644);
    expect((await write()).change).toBe('unchanged');
    expect(await modes(file)).toEqual(['600']);
  });

  it('replaces an entry of that name, and does nothing when it is the same', async () => {
    await write({ url: 'old' });
    expect((await write()).change).toBe('replaced');
    expect(await read()).toEqual({ mcpServers: { patchbay: entry } });
    const files = await readdir(folder);
    expect(await write()).toEqual({ file, change: 'unchanged' });
    expect(await readdir(folder)).toEqual(files);
  });

  it('changes the target of a link and keeps the link', async () => {
    const target = join(folder, 'dotfiles.json');
    await writeFile(target, '{}');
    await symlink(target, file);
    expect((await write()).file).toBe(target);
    expect((await lstat(file)).isSymbolicLink()).toBe(true);
    expect(await read()).toEqual({ mcpServers: { patchbay: entry } });
  });

  it('takes an empty file and a byte order mark for what they are', async () => {
    await writeFile(file, '');
    await write();
    expect(await read()).toEqual({ mcpServers: { patchbay: entry } });
    await writeFile(file, '\uFEFF{"a":1}');
    await write(entry, NOW + 1);
    expect(await read()).toEqual({ a: 1, mcpServers: { patchbay: entry } });
  });

  it.each([
    ['{"secret": "oag_1", // comment\n}', /is not plain JSON \(line 1 column 21\)/],
    ['[]', /holds no JSON object/],
    ['{"mcpServers": []}', /has a mcpServers that is no object/],
  ])('refuses %j, leaves it as it is and quotes nothing of it', async (text, sentence) => {
    await writeFile(file, text);
    const error = await write().catch(thrown => thrown);
    expect(error.message).toMatch(sentence);
    expect(error.message).toContain('left as it is');
    expect(error.message).not.toContain('oag_1');
    await expect(readEntry(file, 'mcpServers', 'patchbay')).rejects.toThrow(sentence);
    expect(await readFile(file, 'utf8')).toBe(text);
    expect(await readdir(folder)).toEqual(['mcp.json']);
  });
});
