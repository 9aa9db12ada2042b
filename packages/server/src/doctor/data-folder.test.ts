import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockDataFolder } from '../store/data-folder-lock.ts';
import { diskRemarks, examineDataFolder } from './data-folder.ts';

let parent: string;
let folder: string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'patchbay-doctor-'));
  folder = join(parent, 'data');
});
afterEach(() => rm(parent, { recursive: true }));

const examine = () => examineDataFolder(folder, 'linux');
const run = (command: string) => execFileSync('sh', ['-c', command]);

describe('the data folder', () => {
  it('may be missing, for the first start makes it, and is not made by looking', async () => {
    const found = await examine();
    expect(found).toMatchObject({ remarks: [{ verdict: 'ok' }], use: { inUse: false } });
    expect(found.remarks[0]!.says).toContain('first start');
    await expect(chmod(folder, 0o700)).rejects.toThrow('ENOENT');
  });

  it.each(['data', 'data/below'])('cannot be %s where a file is in its place', async path => {
    await writeFile(folder, '');
    const found = await examineDataFolder(join(parent, path), 'linux');
    expect(found.remarks).toMatchObject([
      { verdict: 'problem', says: expect.stringContaining(`${folder} is a file`) },
    ]);
    run(found.remarks[0]!.mend!);
    expect((await examineDataFolder(join(parent, path), 'linux')).remarks).toMatchObject([{ verdict: 'ok' }]);
  });

  it('that others may enter is a warning, and a problem when they can read what is private', async () => {
    await mkdir(folder, { mode: 0o755 });
    await chmod(folder, 0o755);
    expect((await examine()).remarks).toMatchObject([{ verdict: 'warning' }]);
    await writeFile(join(folder, 'local-owner'), '{}', { mode: 0o600 });
    expect((await examine()).remarks).toMatchObject([{ verdict: 'warning' }]);
    await chmod(join(folder, 'local-owner'), 0o644);
    const [remark] = (await examine()).remarks;
    expect(remark).toMatchObject({ verdict: 'problem', says: expect.stringContaining('local-owner') });
    run(remark!.mend!);
    expect((await examine()).remarks).toMatchObject([{ verdict: 'ok' }]);
  });

  it('says who works in it, without taking it from them', async () => {
    await mkdir(folder, { mode: 0o700 });
    expect((await examine()).use).toEqual({ inUse: false });
    const held = await lockDataFolder(folder);
    expect((await examine()).use.inUse).toBe(true);
    await held[Symbol.asyncDispose]();
    expect((await examine()).use).toEqual({ inUse: false });
    await (await lockDataFolder(folder))[Symbol.asyncDispose]();
  });
});

describe('the disk of the data folder', () => {
  const MIB = 1024 * 1024;
  const remarks = (mebibytes: number, type = 0xef53) =>
    diskRemarks('/data', { bavail: mebibytes, bsize: MIB, type }).map(({ verdict, says }) => [verdict, says]);

  it('has room, or little, or none', () => {
    expect(remarks(5_000)).toEqual([]);
    expect(remarks(500)).toEqual([['warning', expect.stringContaining('500 MiB left')]]);
    expect(remarks(50)).toEqual([['problem', expect.stringContaining('50 MiB left')]]);
  });

  it('is not one that other machines share', () => {
    expect(remarks(5_000, 0x6969)).toEqual([['warning', expect.stringContaining('NFS')]]);
  });
});
