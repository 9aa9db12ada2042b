import { readFileSync } from 'node:fs';
import path from 'node:path';
import { PlatformError } from '../kernel/errors.ts';
import { parseJson } from '../kernel/json.ts';
import type { RawValue } from './env.ts';
import { SETTINGS } from './settings.ts';

const DEFAULT_CONFIG_FILE = 'patchbay.config.json';

export interface RawFile {
  readonly values: ReadonlyMap<string, RawValue>;
  readonly unrecognized: readonly string[];
}

const KEYS: ReadonlySet<string> = new Set(SETTINGS.map(({ key }) => key));

/**
 * Reads the configuration file: one JSON object, sections nested or written with a dot. A missing default file is no file;
 * a named one must be there.
 */
export function readConfigFile(cwd: string, named: string | undefined): RawFile {
  const shown = named ?? DEFAULT_CONFIG_FILE;
  const text = readText(path.resolve(cwd, shown), named);
  if (text === undefined) return { values: new Map(), unrecognized: [] };
  const parsed = parseJson(text.replace(/^\uFEFF/, ''), { maxDepth: 16 });
  if (!parsed.ok) {
    const why = parsed.refusal.message.replace(/^the JSON/, 'it');
    throw new PlatformError('invalid', `The configuration file ${shown} cannot be read: ${why}.`);
  }
  if (typeof parsed.value !== 'object' || parsed.value === null || Array.isArray(parsed.value)) {
    throw new PlatformError('invalid', `The configuration file ${shown} must hold one JSON object: { ... }.`);
  }
  const values = new Map<string, RawValue>();
  const unrecognized: string[] = [];
  for (const [key, value] of leaves(parsed.value, '')) {
    if (!KEYS.has(key)) unrecognized.push(key);
    else if (values.has(key)) {
      throw new PlatformError('invalid', `The configuration file ${shown} sets ${key} twice; keep one.`);
    } else if (value !== null) values.set(key, { value, name: `${key} in ${shown}` });
  }
  return { values, unrecognized };
}

function readText(file: string, named: string | undefined): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    if (named === undefined && cause instanceof Error && 'code' in cause && cause.code === 'ENOENT')
      return undefined;
    const where = named === undefined ? DEFAULT_CONFIG_FILE : `${named}, named by PATCHBAY_CONFIG,`;
    throw new PlatformError(
      'invalid',
      `The configuration file ${where} cannot be read; make it readable or do not name it.`,
      { cause },
    );
  }
}

function* leaves(object: object, prefix: string): Generator<[string, unknown]> {
  for (const [name, value] of Object.entries(object)) {
    const key = `${prefix}${name}`;
    const section = typeof value === 'object' && value !== null && !Array.isArray(value) && !KEYS.has(key);
    if (section) yield* leaves(value, `${key}.`);
    else yield [key, value];
  }
}
