import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dataDir } from './data-dir.ts';
import { createTestIo, type TestIo } from './testing/test-io.ts';

let cwd: string;

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'patchbay-data-dir-'));
});
afterEach(() => rm(cwd, { recursive: true }));

const io = (env: TestIo['env'] = {}) => createTestIo({ home: '/people/ada', cwd, env });

describe('the data folder', () => {
  it('is ~/.patchbay where nothing says otherwise', () => {
    expect(dataDir(io())).toBe('/people/ada/.patchbay');
    expect(dataDir(io({ PATCHBAY_DATA_DIR: ' ' }))).toBe('/people/ada/.patchbay');
  });

  it.each([
    ['~', '/people/ada'],
    ['~/data', '/people/ada/data'],
    ['/srv/data', '/srv/data'],
    ['data', 'CWD/data'],
  ])('reads %s as the platform does, from the variable and from the file', async (written, folder) => {
    const expected = folder.replace('CWD', cwd);
    expect(dataDir(io({ PATCHBAY_DATA_DIR: ` ${written} ` }))).toBe(expected);
    await writeFile(join(cwd, 'patchbay.config.json'), JSON.stringify({ port: 1, dataDir: written }));
    expect(dataDir(io())).toBe(expected);
  });

  it('is what the variable says before the file, and before the default what the named file says', async () => {
    await writeFile(join(cwd, 'patchbay.config.json'), '{"dataDir":"/from/file"}');
    await writeFile(join(cwd, 'other.json'), '\uFEFF{"dataDir":"/from/other"}');
    await writeFile(join(cwd, 'without.json'), '{"dataDir":null}');
    expect(dataDir(io({ PATCHBAY_DATA_DIR: '/from/variable' }))).toBe('/from/variable');
    expect(dataDir(io({ PATCHBAY_CONFIG: 'other.json' }))).toBe('/from/other');
    expect(dataDir(io({ PATCHBAY_CONFIG: 'without.json' }))).toBe('/people/ada/.patchbay');
  });

  it.each([
    'export default { dataDir: "/from/program", servers: {} };',
    'const folder: string = "/from/program";\nexport const dataDir = folder;',
  ])('comes from a file that is a program, too: %s', async text => {
    await writeFile(join(cwd, 'patchbay.config.ts'), text);
    expect(dataDir(io())).toBe('/from/program');
    await writeFile(join(cwd, 'mine.mjs'), 'export default { dataDir: "/from/mine" };');
    expect(dataDir(io({ PATCHBAY_CONFIG: 'mine.mjs' }))).toBe('/from/mine');
    await writeFile(join(cwd, 'broken.ts'), 'export default {');
    expect(() => dataDir(io({ PATCHBAY_CONFIG: 'broken.ts' }))).toThrow('broken.ts cannot be run; mend it');
  });

  it.each([
    ['{"dataDir":', /patchbay\.config\.json cannot be read as JSON; .*PATCHBAY_DATA_DIR/],
    ['{"dataDir":7}', /dataDir in patchbay\.config\.json must be a folder/],
  ])('refuses a file that says %s', async (text, sentence) => {
    await writeFile(join(cwd, 'patchbay.config.json'), text);
    const command = io();
    expect(await command.run('agents', 'list')).toBe(2);
    expect(command.err()).toMatch(sentence);
    expect(() => dataDir(io({ PATCHBAY_DATA_DIR: '/data' }))).not.toThrow();
  });

  it('refuses a named file that is not there', async () => {
    const command = io({ PATCHBAY_CONFIG: 'none.json' });
    expect(await command.run('agents', 'list')).toBe(2);
    expect(command.err()).toContain('The configuration file none.json cannot be read');
  });
});
