import { OPEN_PREFIX } from '../kernel/reference-environment.ts';
import { OTHER_VARIABLES, SETTINGS, VARIABLE_ALIASES } from './settings.ts';

/** A value as it was found, not yet looked at. */
export interface RawValue {
  readonly value: unknown;
  /** How to name its place to a person: `PATCHBAY_PORT`, `port in patchbay.config.json`. */
  readonly name: string;
}

export interface RawEnv {
  /** By key of the setting. */
  readonly values: ReadonlyMap<string, RawValue>;
  readonly configFile: string | undefined;
  readonly unrecognized: readonly string[];
}

const KEY_OF_VARIABLE = new Map(SETTINGS.map(({ key, variable }) => [variable, key]));

/**
 * Picks our variables out of an environment. An empty one counts as not set, as compose files write it; `PATCHBAY_*` wins
 * over an alias. Names of other products, also of the seeds, are not read.
 */
export function readEnv(env: Readonly<Record<string, string | undefined>>): RawEnv {
  const values = new Map<string, RawValue>();
  const unrecognized: string[] = [];
  const set = Object.entries(env).flatMap(([name, value]) => {
    const text = value?.trim();
    return text ? [{ name, text }] : [];
  });
  for (const { name, text } of set) {
    const key = VARIABLE_ALIASES.get(name);
    if (key !== undefined) values.set(key, { value: text, name });
  }
  for (const { name, text } of set) {
    const key = KEY_OF_VARIABLE.get(name);
    if (key !== undefined) values.set(key, { value: text, name });
    else if (name.startsWith('PATCHBAY_') && !name.startsWith(OPEN_PREFIX) && !OTHER_VARIABLES.has(name))
      unrecognized.push(name);
  }
  return { values, configFile: env.PATCHBAY_CONFIG?.trim() || undefined, unrecognized };
}
