import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { formatManifest, readManifest } from './manifest.ts';
import { openStore } from './open-store.ts';

const FILE = fileURLToPath(new URL('schema.generated.json', import.meta.url));

/**
 * Writes the tables that the migrations make to `schema.generated.json`; with `check`, only compares.
 * The answer says whether the file was right before.
 */
export async function generateManifest(options: {
  readonly check: boolean;
}): Promise<{ file: string; upToDate: boolean }> {
  const store = await openStore({ kind: 'sqlite', file: ':memory:' });
  try {
    const wanted = formatManifest(await readManifest(store));
    const present = await readFile(FILE, 'utf8').catch(() => undefined);
    if (present !== wanted && !options.check) await writeFile(FILE, wanted);
    return { file: FILE, upToDate: present === wanted };
  } finally {
    await store.close();
  }
}
