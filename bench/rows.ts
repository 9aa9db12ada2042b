import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Target } from './load.ts';
import { AGENT, callBody, conversationCall, newConversationCall, statelessCall } from './two-rules.ts';

/** What a server process reports when it is ready. */
interface Ready {
  readonly url: string;
  readonly headers?: Record<string, string>;
  /** Conversations to go on in, one a connection. */
  readonly conversations?: readonly string[];
}

/** A server of the bench, running in a process of its own. */
export interface RunningRow {
  readonly title: string;
  readonly target: Target;
  readonly pid: number;
  /** The PostgreSQL server that works for it, if any. */
  readonly databasePid: number | undefined;
  stop(): Promise<void>;
}

export interface Row {
  readonly title: string;
  /** Which one of these the ratios are against. */
  readonly yardstick?: 'SDK v1' | 'SDK v2';
  readonly script: string;
  readonly args?: readonly string[];
  readonly onPostgres?: boolean;
  readonly call: (ready: Ready) => Pick<Target, 'headers' | 'bodyOf' | 'expects'>;
}

const ECHO = { name: 'echo', arguments: { text: 'hello' } };

export const ROWS: readonly Row[] = [
  {
    title: 'node:http with a raw fetch in each call',
    script: 'node-http.ts',
    args: ['fetching'],
    call: () => ({ headers: {}, bodyOf: id => callBody(id, ECHO), expects: 'hello' }),
  },
  {
    title: 'node:http, no MCP library',
    script: 'node-http.ts',
    call: () => ({ headers: {}, bodyOf: id => callBody(id, ECHO), expects: 'hello' }),
  },
  {
    title: 'SDK v1 server, JSON answers',
    yardstick: 'SDK v1',
    script: 'sdk-v1.mjs',
    call: ready => ({ headers: ready.headers ?? {}, bodyOf: id => callBody(id, ECHO), expects: 'hello' }),
  },
  {
    title: 'SDK v2 server, createMcpHandler',
    yardstick: 'SDK v2',
    script: 'sdk-v2.mjs',
    call: () => statelessCall({}, () => ECHO, 'hello'),
  },
  {
    title: 'Patchbay operator door, list_docs',
    script: 'patchbay.ts',
    args: ['operator'],
    call: ready =>
      statelessCall(ready.headers, () => ({ name: 'list_docs', arguments: {} }), 'getting-started'),
  },
  {
    title: 'Patchbay operator door, deploy_agent',
    script: 'patchbay.ts',
    args: ['deploy'],
    call: ready =>
      statelessCall(
        ready.headers,
        () => ({ name: 'deploy_agent', arguments: { agentId: AGENT, version: 1 } }),
        'READY',
      ),
  },
  {
    title: 'Patchbay agent door, durable turn with a property, SQLite',
    script: 'patchbay.ts',
    args: ['property'],
    call: ready => conversationCall(ready.headers, ready.conversations),
  },
  {
    title: 'Patchbay agent door, durable turn with an HTTP call, SQLite',
    script: 'patchbay.ts',
    args: ['httpcalls'],
    call: ready => conversationCall(ready.headers, ready.conversations),
  },
  {
    title: 'Patchbay REST, a turn that waits, its approval and its end, SQLite',
    script: 'patchbay.ts',
    args: ['approve'],
    call: () => ({ headers: {}, bodyOf: () => '{}', expects: 'READY' }),
  },
  ...(['SQLite', 'PostgreSQL'] as const).flatMap((engine): Row[] => [
    {
      title: `Patchbay agent door, durable turn, ${engine}`,
      script: 'patchbay.ts',
      args: ['agent'],
      onPostgres: engine === 'PostgreSQL',
      call: ready => conversationCall(ready.headers, ready.conversations),
    },
    {
      title: `Patchbay agent door, new conversation each call, ${engine}`,
      script: 'patchbay.ts',
      args: ['agent'],
      onPostgres: engine === 'PostgreSQL',
      call: ready => newConversationCall(ready.headers),
    },
  ]),
];

/** Starts a row's server. Rejects when it ends before it is ready. */
export async function startRow(
  row: Row,
  postgres: { url: string; pid: number } | undefined,
): Promise<RunningRow> {
  const database = row.onPostgres ? postgres : undefined;
  const script = join(import.meta.dirname, 'servers', row.script);
  const child = fork(script, row.args ?? [], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { ...process.env, BENCH_DATABASE_URL: database?.url ?? '' },
  });
  const ready = await readyOf(child, row.title);
  return {
    title: row.title,
    target: { url: ready.url, ...row.call(ready) },
    pid: child.pid!,
    databasePid: database?.pid,
    async stop() {
      const exited = once(child, 'exit');
      child.kill();
      await exited;
    },
  };
}

async function readyOf(child: ChildProcess, title: string): Promise<Ready> {
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${title} ended with ${code} before it was ready.`);
  });
  const [ready] = (await Promise.race([once(child, 'message'), ended])) as [Ready];
  ended.catch(() => {});
  return ready;
}
