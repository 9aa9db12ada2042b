import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Connection } from '../../packages/server/src/connections/session/connection.ts';
import type { Pool } from '../../packages/server/src/connections/session/pool.ts';
import { newPrograms } from './programs.ts';
import { testPool } from './test-pool.ts';

const PROGRAM = fileURLToPath(new URL('servers/mcp-program.ts', import.meta.url));
const MODERN = fileURLToPath(new URL('servers/modern-program.ts', import.meta.url));
const EVERYTHING = fileURLToPath(
  new URL('dist/index.js', import.meta.resolve('@modelcontextprotocol/server-everything/package.json')),
);

let folder: string;
let calls: string;
let programs: ReturnType<typeof newPrograms>;
let pool: Pool & AsyncDisposable;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'programs-'));
  calls = join(folder, 'calls');
  programs = newPrograms();
  pool = testPool({ startProgram: async endpoint => programs.create(endpoint) });
});
afterEach(async () => {
  await pool[Symbol.asyncDispose]();
  await programs.end();
  await rm(folder, { recursive: true });
});

function connect(...args: readonly string[]): Connection {
  const endpoint = { kind: 'stdio', command: process.execPath, args, env: {}, cwd: undefined } as const;
  return pool.connection({ endpoint, scope: 'test', connectTimeoutMs: 10_000 });
}

const call = (name: string, timeoutMs = 5_000) => ({
  method: 'tools/call',
  params: { name, arguments: {} },
  timeoutMs,
});

const started = async () => (await readFile(calls, 'utf8').catch(() => '')).trim().split('\n');

describe('A program is spoken to in the newest revision it knows', () => {
  it('of the older eras', async () => {
    const connection = connect(EVERYTHING);
    await connection.ready();
    expect(connection.facts).toMatchObject({ era: 'legacy', protocolVersion: '2025-11-25' });
    expect(await connection.request(call('get-tiny-image'))).toMatchObject({
      content: expect.arrayContaining([expect.objectContaining({ type: 'image' })]),
    });
  });

  it('of the stateless era', async () => {
    const connection = connect(MODERN);
    expect(await connection.request(call('greet'))).toMatchObject({ content: [{ text: 'hello' }] });
    expect(connection.facts).toMatchObject({ era: 'modern', protocolVersion: '2026-07-28' });
  });

  it('of the older eras, also when it ends at what it does not know', async () => {
    const connection = connect(PROGRAM, calls, 'shy');
    await connection.ready();
    expect(connection.facts).toMatchObject({ era: 'legacy', protocolVersion: '2025-06-18' });
  });
});

describe('A program that fails', () => {
  it('at its start says why, in words', async () => {
    await expect(connect(PROGRAM, calls, 'crash').ready()).rejects.toMatchObject({
      message: expect.stringMatching(/ended with code 7; it said: Error: the database is locked$/),
    });
    const endpoint = { kind: 'stdio', command: 'no-such', args: [], env: {}, cwd: undefined } as const;
    const missing = pool.connection({ endpoint, scope: 'test', connectTimeoutMs: 10_000 });
    await expect(missing.ready()).rejects.toMatchObject({
      kind: 'SERVER_UNAVAILABLE',
      message: expect.stringContaining('the command "no-such" could not be started'),
    });
  });

  it('within a call has maybe done it: the call is not made again, and the next one is on a new program (A-67)', async () => {
    const connection = connect(PROGRAM, calls);
    await expect(connection.request(call('die'))).rejects.toMatchObject({
      kind: 'TRANSPORT_ERROR',
      reached: 'unknown',
      message: expect.stringContaining('ended with code 9'),
    });
    expect(await connection.request(call('answer'))).toMatchObject({ content: [{ type: 'text' }] });
    expect(await started()).toEqual(['die', 'answer']);
  });

  it('between calls costs none of them: the next is on a new program', async () => {
    const connection = connect(PROGRAM, calls);
    const pidOf = async () => {
      const { content } = await connection.request(call('answer'));
      return Number((content as readonly { readonly text: string }[])[0]!.text);
    };
    const first = await pidOf();
    const down = new Promise<void>(resolve => {
      connection.subscribe(() => connection.facts === undefined && resolve());
    });
    process.kill(first, 'SIGKILL');
    await down;
    expect(await pidOf()).not.toBe(first);
    expect(await started()).toEqual(['answer', 'answer']);
  });

  it('to answer costs the call its time, and others nothing', async () => {
    const connection = connect(PROGRAM, calls);
    await connection.ready();
    const hanging = connection.request(call('hang', 300));
    expect(await connection.request(call('answer'))).toMatchObject({ content: [{ type: 'text' }] });
    await expect(hanging).rejects.toMatchObject({ kind: 'TIMEOUT', reached: 'unknown' });
    expect((await started()).toSorted()).toEqual(['answer', 'hang']);
  });
});
