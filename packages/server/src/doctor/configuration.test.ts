import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { examineConfiguration } from './configuration.ts';

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'patchbay-doctor-'));
});
afterEach(() => rm(cwd, { recursive: true }));

const examine = (env: Record<string, string> = {}) => examineConfiguration({ env, cwd, home: cwd });

describe('the configuration', () => {
  it('is fine without any setting', async () => {
    expect((await examine()).remarks).toMatchObject([{ verdict: 'ok' }]);
  });

  it.each([
    ['a wrong value', { PATCHBAY_PORT: 'many' }, 'problem', 'PATCHBAY_PORT'],
    ['an alias with a wrong value', { MCP_PUBLIC_URL: 'ftp://x' }, 'problem', 'MCP_PUBLIC_URL'],
    ['a key nobody knows', { PATCHBAY_PROT: '8080' }, 'warning', 'PATCHBAY_PROT'],
    ['authentication that is off', { PATCHBAY_AUTH: 'off' }, 'warning', 'PATCHBAY_AUTH'],
    [
      'authentication that is off for everyone',
      { PATCHBAY_AUTH: 'off', PATCHBAY_HOST: '0.0.0.0' },
      'problem',
      'PATCHBAY_AUTH',
    ],
    [
      'sizes that never fit',
      { PATCHBAY_HTTP_MAX_BODY_BYTES: '1024' },
      'problem',
      'PATCHBAY_HTTP_MAX_BODY_BYTES',
    ],
    [
      'an address of another machine',
      { PATCHBAY_HOST: '192.0.2.1', PATCHBAY_PUBLIC_URL: 'https://patchbay.example' },
      'problem',
      'PATCHBAY_HOST',
    ],
  ] as const)('with %s is mended by the command', async (_, env, verdict, variable) => {
    const { remarks } = await examine(env);
    expect(remarks[0]).toMatchObject({ verdict, mend: `unset ${variable}` });
    expect(remarks[0]!.says).toContain(variable === 'PATCHBAY_HOST' ? '192.0.2.1' : variable.slice(0, 12));
    const mended = Object.fromEntries(Object.entries(env).filter(([name]) => name !== variable));
    expect((await examine(mended)).remarks.filter(remark => remark.verdict === 'problem')).toEqual([]);
  });

  it('says every wrong value at once', async () => {
    const { remarks, loaded } = await examine({ PATCHBAY_PORT: 'many', PATCHBAY_LOG_LEVEL: 'loud' });
    expect(remarks.map(({ mend }) => mend)).toEqual(['unset PATCHBAY_PORT', 'unset PATCHBAY_LOG_LEVEL']);
    expect(loaded).toBeUndefined();
  });

  it('with an address that must be made right has no command to take it back', async () => {
    const { remarks } = await examine({ PATCHBAY_PUBLIC_URL: 'http://patchbay.example' });
    expect(remarks).toMatchObject([
      { verdict: 'warning', mend: undefined },
      { verdict: 'warning', mend: undefined },
    ]);
    expect(remarks[0]!.says).toContain('https');
  });

  it('says which address is missing on a network', async () => {
    const { remarks } = await examine({ PATCHBAY_HOST: '0.0.0.0' });
    expect(remarks).toMatchObject([{ verdict: 'warning', mend: undefined }]);
    expect(remarks[0]!.says).toContain('PATCHBAY_PUBLIC_URL');
  });

  it('in a file names the key and the file', async () => {
    await writeFile(join(cwd, 'patchbay.config.json'), '{"port":"many"}');
    expect((await examine()).remarks).toMatchObject([
      { verdict: 'problem', says: expect.stringContaining('port in patchbay.config.json'), mend: undefined },
    ]);
    await writeFile(join(cwd, 'patchbay.config.json'), '{"port":');
    expect((await examine()).remarks[0]!.says).toContain('patchbay.config.json cannot be read');
  });

  it('in a file that is a program is run, and its mistakes are said', async () => {
    await writeFile(join(cwd, 'patchbay.config.ts'), 'export default { port: 8080, servers: {} };');
    expect(await examine()).toMatchObject({
      loaded: { config: { port: 8080 } },
      remarks: [{ verdict: 'ok' }],
    });
    await writeFile(join(cwd, 'patchbay.config.json'), '{}');
    expect((await examine()).remarks[0]!.says).toContain('keep one');
  });

  it('names each wrong option of an MCP server in it', async () => {
    const servers = { one: { url: 'https://a.example', timeot: 5 }, two: {} };
    await writeFile(join(cwd, 'patchbay.config.json'), JSON.stringify({ servers }));
    expect((await examine()).remarks).toMatchObject([
      { verdict: 'problem', says: 'Server one: timeot is no option; did you mean timeout.', mend: undefined },
      { verdict: 'problem', says: expect.stringContaining('Server two: transport is required') },
    ]);
  });

  it('never shows the password of the database', async () => {
    const env = { PATCHBAY_DATABASE_URL: 'mysql://patchbay:hunter2@db/patchbay' };
    expect(JSON.stringify((await examine(env)).remarks)).not.toContain('hunter2');
  });
});
