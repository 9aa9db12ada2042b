import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDocsPages } from './pages.ts';

let root: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'patchbay-docs-'));
  await mkdir(join(root, 'docs'));
  await mkdir(join(root, 'docs', 'inner.md'));
  await writeFile(join(root, 'docs', 'beta.md'), '# Beta');
  await writeFile(join(root, 'docs', 'alpha.md'), '# Alpha');
  await writeFile(join(root, 'docs', 'picture.png'), 'x');
  await writeFile(join(root, 'secret.md'), 'outside');
  await symlink(join(root, 'secret.md'), join(root, 'docs', 'link.md'));
});
afterAll(() => rm(root, { recursive: true }));

const pages = () => createDocsPages({ enabled: true, folder: join(root, 'docs') });

describe('documentation pages', () => {
  it('are the markdown files of the folder, sorted, without .md', async () => {
    expect(await pages().list()).toEqual(['alpha', 'beta']);
  });

  it('are read as they are', async () => {
    expect(await pages().read('alpha')).toEqual({ ok: true, value: '# Alpha' });
  });

  it.each([
    '../secret',
    '..',
    'a/b',
    'a\\b',
    '',
    'docs/../alpha',
    '%2e%2e/secret',
    'alpha\0',
    './alpha',
    '/etc/passwd',
  ])('refuse the invalid name %j, told apart from an absent page (E-71)', async name => {
    expect(await pages().read(name)).toEqual({ ok: false, refusal: { reason: 'invalid-name' } });
  });

  it.each(['gamma', 'inner', 'link', 'picture'])('know no page %s', async name => {
    expect(await pages().read(name)).toEqual({ ok: false, refusal: { reason: 'absent' } });
  });

  it('look the same when the folder is missing and when they are switched off (E-70)', async () => {
    for (const options of [
      { enabled: false, folder: join(root, 'docs') },
      { enabled: true, folder: join(root, 'no-such-folder') },
    ]) {
      const none = createDocsPages(options);
      expect(await none.list()).toEqual([]);
      expect(await none.read('alpha')).toEqual({ ok: false, refusal: { reason: 'absent' } });
    }
  });
});
