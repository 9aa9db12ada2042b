import { access } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isAgentId } from '@patchbay/contract/ids';
import { usageError } from './cli-error.ts';
import type { Io } from './io.ts';

/** What looks like an agent's id is one, unless there is a file of that name; `-` is a file. */
export async function isAgentFile(io: Io, name: string): Promise<boolean> {
  if (name === '-' || !isAgentId(name)) return true;
  return access(resolve(io.cwd, name)).then(
    () => true,
    () => false,
  );
}

/** For options that take a version. */
export function versionNumber(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw usageError(`'${text}' is no version: a whole number from 1.`);
}
