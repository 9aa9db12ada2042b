import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore, type StoreOptions } from '@patchbay/server/store/open-store';
import type { Store } from '@patchbay/server/store/store';
import pg from 'pg';
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** The server that `test/global-setup.ts` has started. */
    postgresUrl: string;
  }
}

/** For `describe.each(engines)('... on %s', engine => ...)`: what runs on one engine runs on both. */
export const engines = ['sqlite', 'postgres'] as const;
export type EngineName = (typeof engines)[number];

export interface TestStore extends Store, AsyncDisposable {
  /** Opens the same database once more, as another node or after a restart would. */
  readonly options: StoreOptions;
}

/**
 * A fresh store that nobody else sees: `await using store = await openTestStore(engine)`. Disposing closes it and removes
 * what it held; a store opened on the same options must be closed before.
 */
export async function openTestStore(engine: EngineName): Promise<TestStore> {
  const database = await newDatabase(engine);
  const store = await openStore(database.options);
  return {
    ...store,
    options: database.options,
    async [Symbol.asyncDispose]() {
      await database.beforeClose(store);
      await store.close();
      await database.afterClose();
    },
  };
}

async function newDatabase(engine: EngineName): Promise<{
  options: StoreOptions;
  beforeClose(store: Store): Promise<void>;
  afterClose(): Promise<void>;
}> {
  if (engine === 'postgres') {
    const schema = `test_${randomUUID().replaceAll('-', '')}`;
    return {
      options: { kind: 'postgres', url: inject('postgresUrl'), schema },
      beforeClose: async store => {
        await store.db.schema.dropSchema(schema).cascade().execute();
      },
      afterClose: async () => {},
    };
  }
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-store-'));
  return {
    options: { kind: 'sqlite', file: join(folder, 'patchbay.db') },
    beforeClose: async () => {},
    afterClose: () => rm(folder, { recursive: true, force: true }),
  };
}

/** An empty PostgreSQL database of its own, for a whole platform. Disposing drops it, with whoever is still connected. */
export async function newTestDatabase(): Promise<{ readonly url: string } & AsyncDisposable> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const server = inject('postgresUrl');
  await onServer(server, `create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    [Symbol.asyncDispose]: () => onServer(server, `drop database ${name} with (force)`),
  };
}

async function onServer(url: string, statement: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
