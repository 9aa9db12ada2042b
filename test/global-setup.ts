import { type PostgresServer, startPostgres } from '@patchbay/testing/postgres';
import type { TestProject } from 'vitest/node';

let server: PostgresServer | undefined;

/** One PostgreSQL server for the whole run; each test has a schema of its own on it. */
export async function setup(project: TestProject): Promise<void> {
  server = await startPostgres();
  project.provide('postgresUrl', server.url);
}

export async function teardown(): Promise<void> {
  await server?.[Symbol.asyncDispose]();
}
