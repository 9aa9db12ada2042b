import type { JsonSchema } from '../../../connections/tool/json-schema.ts';
import { isObject } from '../../../kernel/json.ts';
import { described, wordOf } from './words.ts';

export interface Renamed {
  readonly schema: JsonSchema;
  /** Keywords that are left out, because they go by the names that are no longer there. */
  readonly lost: readonly string[];
  /** What the server calls the arguments that have other names now, by these. */
  readonly names: ReadonlyMap<string, string>;
}

const MAX_LENGTH = 64;
/** Keywords that say something of members by their names. */
const BY_NAME = [
  ...['dependentRequired', 'dependentSchemas', 'if', 'then', 'else', 'not'],
  ...['patternProperties', 'propertyNames'],
];
const NONE: ReadonlyMap<string, string> = new Map();

/**
 * The schema of an object whose members a provider can name: `filter[id]` is `filter_id_` then. Only the members of the root are looked at,
 * as providers do. The same schema where all names are taken as they are.
 */
export function renameMembers(root: JsonSchema, taken: RegExp): Renamed {
  const properties = isObject(root.properties) ? root.properties : {};
  const all = Object.keys(properties);
  const wrong = all.filter(name => !taken.test(name));
  if (wrong.length === 0) return { schema: root, lost: [], names: NONE };
  const used = new Set(all);
  const safe = new Map<string, string>();
  const counts = new Map<string, number>();
  for (const name of wrong) {
    const free = freeName(name, used, counts);
    used.add(free);
    safe.set(name, free);
  }
  const called = (name: string) => safe.get(name) ?? name;
  const schema: Record<string, unknown> = {
    ...root,
    properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [called(name), one])),
  };
  if (Array.isArray(root.required)) schema.required = root.required.map(name => called(String(name)));
  const lost = BY_NAME.filter(keyword => root[keyword] !== undefined);
  for (const keyword of lost) delete schema[keyword];
  if (lost.length > 0)
    schema.description = described(
      root.description,
      lost.map(one => wordOf(one, root[one])),
    );
  return { schema, lost, names: new Map([...safe].map(([name, free]) => [free, name])) };
}

function freeName(name: string, used: ReadonlySet<string>, counts: Map<string, number>): string {
  const valid = name
    .replace(/[^A-Za-z0-9_]/gu, '_')
    .replace(/^(?![A-Za-z_])/, '_')
    .slice(0, MAX_LENGTH);
  if (!used.has(valid)) return valid;
  for (let count = counts.get(valid) ?? 2; ; count++) {
    const tail = `_${count}`;
    const free = valid.slice(0, MAX_LENGTH - tail.length) + tail;
    counts.set(valid, count + 1);
    if (!used.has(free)) return free;
  }
}
