import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Store } from '@patchbay/server/store/store';
import { sql } from 'kysely';

/**
 * A secret that exists nowhere else, to be planted where secrets go and searched for everywhere else (attacks 46). It holds
 * characters that texts escape; what is searched for is the part between them, which nothing escapes.
 */
export interface Canary {
  readonly value: string;
  readonly core: string;
}

export function newCanary(): Canary {
  const core = `canary${randomBytes(12).toString('hex')}`;
  return { value: `k "+/${core}&=é%`, core };
}

/**
 * Names of the places that hold the canary, plain, in hex or in base64: `expect(await placesWith(canary, {...})).toEqual([])`.
 * A place is any value; bytes are looked at as they are.
 */
export function placesWith(canary: Canary, places: Readonly<Record<string, unknown>>): string[] {
  const forms = [canary.core, Buffer.from(canary.core).toString('hex'), ...base64Forms(canary.value)];
  return Object.entries(places)
    .filter(([, place]) => {
      const text = textOf(place);
      return forms.some(form => text.includes(form) || text.includes(form.toUpperCase()));
    })
    .map(([name]) => name);
}

/** Whatever comes before it: the middle of each of the three ways base64 can cut it. */
function base64Forms(value: string): string[] {
  return ['', 'x', 'xx'].flatMap(before => {
    const encoded = Buffer.from(before + value).toString('base64');
    const middle = encoded.slice(8, 32);
    return [middle, middle.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

function textOf(place: unknown): string {
  if (typeof place === 'string') return place;
  if (place instanceof Uint8Array) return Buffer.from(place).toString('latin1');
  if (place instanceof Error) {
    return [place.message, place.stack, textOf(place.cause), JSON.stringify(place)].join('\n');
  }
  if (Array.isArray(place)) return place.map(textOf).join('\n');
  if (typeof place === 'object' && place !== null) {
    return Object.entries(place)
      .map(([name, value]) => `${name}=${textOf(value)}`)
      .join('\n');
  }
  return String(place);
}

/** Every row of every table, by `table` and then by row. */
export async function dumpTables(store: Store): Promise<Record<string, unknown[]>> {
  const schema =
    store.engine.kind === 'postgres'
      ? (await sql<{ name: string }>`select current_schema() as name`.execute(store.db)).rows[0]!.name
      : undefined;
  const tables = (await store.db.introspection.getTables()).filter(table => table.schema === schema);
  const dump: Record<string, unknown[]> = {};
  for (const { name } of tables) {
    const table = schema === undefined ? sql.id(name) : sql.id(schema, name);
    dump[name] = (await sql<object>`select * from ${table}`.execute(store.db)).rows;
  }
  return dump;
}

/** Every file of a folder, with the write-ahead log of the database and what deleted rows have left in it. */
export async function dumpFolder(folder: string): Promise<Record<string, Uint8Array>> {
  const files: Record<string, Uint8Array> = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile())
      files[join(entry.parentPath, entry.name)] = await readFile(join(entry.parentPath, entry.name));
  }
  return files;
}

/** A `fetch` that keeps all it was answered, headers too. */
export function recordingFetch(): { readonly fetch: typeof fetch; readonly answers: string[] } {
  const answers: string[] = [];
  return {
    answers,
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      const text = await response.clone().text();
      answers.push([response.status, ...[...response.headers].flat(), text].join('\n'));
      return response;
    },
  };
}
