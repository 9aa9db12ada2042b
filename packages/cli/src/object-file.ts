import { readFile } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { parse as parseYaml, stringify } from 'yaml';
import { CliError, EXIT } from './cli-error.ts';
import type { Io } from './io.ts';

type Members = Record<string, unknown>;

/**
 * A file as an object; `-` is standard input. `.json` is JSON; everything else is YAML, which JSON is a part of. `kind` says in
 * the sentence about something else what it is not: "agent file".
 */
export async function readObjectFile(io: Io, name: string, kind: string): Promise<Members> {
  const value = parsed(name, await readText(io, name));
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members;
  throw new CliError(EXIT.failed, `${name} is no ${kind}: it must hold one object (see docs, agent-files).`);
}

async function readText(io: Io, name: string): Promise<string> {
  try {
    return name === '-' ? await readAll(io.stdin) : await readFile(resolve(io.cwd, name), 'utf8');
  } catch (cause) {
    const missing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    throw new CliError(EXIT.failed, `${name} ${missing ? 'does not exist' : 'cannot be read'}.`, { cause });
  }
}

function parsed(name: string, text: string): unknown {
  try {
    return isJson(name) ? JSON.parse(text) : parseYaml(text);
  } catch (cause) {
    const [reason] = (cause as Error).message.split('\n');
    throw new CliError(EXIT.failed, `${name} cannot be parsed: ${reason}`, { cause });
  }
}

/** The text of a file of that name which reads as the value again. */
export function objectText(name: string, value: unknown): string {
  if (isJson(name)) return `${JSON.stringify(value, null, 2)}\n`;
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}

function isJson(name: string): boolean {
  return extname(name).toLowerCase() === '.json';
}
