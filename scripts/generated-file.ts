import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** Whether a generated file was as it should be before. */
export interface Generated {
  readonly file: string;
  readonly upToDate: boolean;
}

/** Writes the text where it is not there yet; with `check`, only compares. `file` starts at the root of the repository. */
export async function writeGenerated(
  file: string,
  wanted: string,
  options: { readonly check: boolean },
): Promise<Generated> {
  const absolute = path.resolve(import.meta.dirname, '..', file);
  const present = await readFile(absolute, 'utf8').catch(() => undefined);
  if (present !== wanted && !options.check) await writeFile(absolute, wanted);
  return { file: absolute, upToDate: present === wanted };
}
