import { readFileSync } from 'node:fs';
import path from 'node:path';
import { PlatformError } from '../kernel/errors.ts';
import { parseJson } from '../kernel/json.ts';
import { AGENT_SECTION, type AgentSection, readAgentSections } from './agent-sections.ts';
import { CONFIG_JSON, type ConfigScript } from './config-script.ts';
import type { RawValue } from './env.ts';
import { readServerSections, SERVER_SECTIONS, type ServerSections } from './server-sections.ts';
import { SETTINGS } from './settings.ts';

export interface RawFile {
  readonly values: ReadonlyMap<string, RawValue>;
  readonly servers: ServerSections;
  readonly agents: readonly AgentSection[];
  readonly unrecognized: readonly string[];
}

const KEYS: ReadonlySet<string> = new Set(SETTINGS.map(({ key }) => key));

/**
 * Reads the configuration file: one object, sections nested or written with a dot, as JSON or what a program has exported. A missing
 * default file is no file; a named one must be there.
 */
export function readConfigFile(
  cwd: string,
  named: string | undefined,
  script: ConfigScript | undefined,
): RawFile {
  const shown = script?.shown ?? named ?? CONFIG_JSON;
  const file = script ? script.exports : readJson(cwd, shown, named);
  if (file === undefined) return { values: new Map(), servers: {}, agents: [], unrecognized: [] };
  if (typeof file !== 'object' || file === null || Array.isArray(file)) {
    const what = script ? 'export one object' : 'hold one JSON object: { ... }';
    throw new PlatformError('invalid', `The configuration file ${shown} must ${what}.`);
  }
  const values = new Map<string, RawValue>();
  const unrecognized: string[] = [];
  const isSetting = (name: string) => !SERVER_SECTIONS.has(name) && name !== AGENT_SECTION;
  const settings = Object.fromEntries(Object.entries(file).filter(([name]) => isSetting(name)));
  for (const [key, value] of leaves(settings, '')) {
    if (!KEYS.has(key)) unrecognized.push(key);
    else if (values.has(key)) {
      throw new PlatformError('invalid', `The configuration file ${shown} sets ${key} twice; keep one.`);
    } else if (value !== null) values.set(key, { value, name: `${key} in ${shown}` });
  }
  const servers = readServerSections({ ...file }, { shown, source: script ? 'code' : 'data' });
  return { values, servers, agents: readAgentSections({ ...file }, shown), unrecognized };
}

function readJson(cwd: string, shown: string, named: string | undefined): unknown {
  const text = readText(path.resolve(cwd, shown), named);
  if (text === undefined) return undefined;
  const parsed = parseJson(text.replace(/^\uFEFF/, ''), { maxDepth: 16 });
  if (parsed.ok) return parsed.value;
  const why = parsed.refusal.message.replace(/^the JSON/, 'it');
  throw new PlatformError('invalid', `The configuration file ${shown} cannot be read: ${why}.`);
}

function readText(file: string, named: string | undefined): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    if (named === undefined && cause instanceof Error && 'code' in cause && cause.code === 'ENOENT')
      return undefined;
    const where = named === undefined ? CONFIG_JSON : `${named}, named by PATCHBAY_CONFIG,`;
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
