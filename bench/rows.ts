import { type BenchProcess, startProcess } from './bench-process.ts';
import { type LoadResult, runLoad, type Target } from './load.ts';
import { loopCall, modelTurnCall, SHAPES, type Shape } from './model-turns.ts';
import { HEARD } from './servers/echo.ts';
import {
  AGENT,
  callBody,
  conversationCall,
  listCall,
  newConversationCall,
  statelessCall,
} from './two-rules.ts';

/** What a process reports when it is ready. */
interface Ready {
  /** Where it is called; a process that calls by itself has none. */
  readonly url?: string;
  readonly headers?: Record<string, string>;
  /** Keys and tokens of one person, as `Authorization` has them. */
  readonly authorizations?: readonly string[];
  /** Conversations to go on in, one a connection. */
  readonly conversations?: readonly string[];
}

/** A row of the bench, running in a process of its own. */
export interface RunningRow {
  readonly title: string;
  /** Makes calls over so many connections for so many seconds, each the next one when the last one is answered. */
  load(connections: number, seconds: number): Promise<LoadResult>;
  readonly pid: number;
  /** The PostgreSQL server that works for it, if any. */
  readonly databasePid: number | undefined;
  stop(): Promise<void>;
}

export interface Row {
  readonly title: string;
  /** What others of its group are compared with, by this name. */
  readonly yardstick?: string;
  readonly script: string;
  readonly args?: readonly string[];
  readonly onPostgres?: boolean;
  /** Rows with the same word share a process. */
  readonly shares?: string;
  /** How it is called; left out where the process makes the calls itself. */
  readonly call?: (ready: Ready) => Pick<Target, 'headers' | 'authorizations' | 'bodyOf' | 'expects'>;
}

/** Rows that are compared with each other. */
export interface Group {
  readonly title: string;
  readonly rows: readonly Row[];
}

const ECHO = { name: 'echo', arguments: { text: 'hello' } };

const DOORS: readonly Row[] = [
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

/** What a credential costs at the door: one key, and many keys and tokens, each call the next one. */
const CREDENTIALS: readonly Row[] = [
  {
    title: 'Patchbay agent door, list, one key',
    yardstick: 'one key',
    script: 'patchbay.ts',
    args: ['credentials'],
    shares: 'credentials',
    call: ready => listCall(ready.headers),
  },
  ...(['200 keys', '200 tokens', '200 keys and 200 tokens'] as const).map(
    (which): Row => ({
      title: `Patchbay agent door, list, ${which}`,
      script: 'patchbay.ts',
      args: ['credentials'],
      shares: 'credentials',
      call: ready => ({
        ...listCall({}),
        authorizations: (ready.authorizations ?? []).filter(
          one => which.includes('and') || one.includes('oag_') === which.includes('keys'),
        ),
      }),
    }),
  ),
];

/** Gets a call, and makes one. */
function peer(title: string, name: string, yardstick?: string): Row {
  return {
    ...{ title, script: 'peer.mjs', args: [name] },
    ...(yardstick !== undefined && { yardstick }),
    call: ({ headers = {} }) => ({ headers, bodyOf: id => callBody(id, ECHO), expects: HEARD }),
  };
}

function turnWithToolCall(title: string, how: string): Row {
  return {
    ...{ title, script: 'patchbay.ts', args: [how] },
    call: ready => conversationCall(ready.headers, ready.conversations, HEARD),
  };
}

const OUTBOUND: readonly Row[] = [
  { title: 'raw call, undici', script: 'caller.ts', args: ['raw'], yardstick: 'raw call' },
  { title: 'SDK client 2.4.0, stateless', script: 'caller.ts', args: ['sdk'], yardstick: 'SDK client' },
  { title: 'SDK client 2.4.0, session', script: 'caller.ts', args: ['sdk-session'] },
  { title: 'Patchbay call table, stateless', script: 'caller.ts', args: ['table'] },
  { title: 'Patchbay call table, session', script: 'caller.ts', args: ['table-session'] },
];

const HOPS: readonly Row[] = [
  peer('SDK v1 server and client, HTTP', 'sdk'),
  peer('@civic/passthrough-mcp-server 0.12.1, HTTP', 'civic', 'civic'),
  peer('mcp-proxy 6.7.19, program', 'mcp-proxy', 'mcp-proxy'),
  peer('supergateway 4.0.0, program', 'supergateway'),
  turnWithToolCall('Patchbay agent door, durable turn with a tool call, HTTP', 'mcpcalls'),
  turnWithToolCall('Patchbay agent door, durable turn with a tool call, program', 'mcpcalls-program'),
];

/** The same work in loops of others and in a durable turn: one process each for all shapes of a turn. */
function modelRows(shape: Shape): readonly Row[] {
  const loop = (title: string, name: string, yardstick?: string): Row => ({
    ...{ title, script: 'loop.mjs', args: [name], shares: name, call: () => loopCall(shape) },
    ...(yardstick !== undefined && { yardstick }),
  });
  const turn = (engine: 'SQLite' | 'PostgreSQL'): Row => ({
    ...{ title: `${OUR_MODEL_TURN}, ${engine}`, script: 'patchbay.ts', args: ['model'] },
    ...{ shares: `model ${engine}`, onPostgres: engine === 'PostgreSQL' },
    call: ready => modelTurnCall(ready.headers, ready.conversations, shape),
  });
  return [
    loop('undici, no library', 'raw', 'raw'),
    loop('AI SDK 7.0.173', 'ai-sdk', 'AI SDK'),
    loop('Mastra 1.71.0', 'mastra', 'Mastra'),
    turn('SQLite'),
    turn('PostgreSQL'),
  ];
}

const OUR_MODEL_TURN = 'Patchbay agent door, durable turn';

/** How the group of a shape is called. */
export function modelGroupTitle(shape: Shape): string {
  return `model turn, ${shape}`;
}

export const GROUPS: readonly Group[] = [
  { title: 'doors', rows: DOORS },
  { title: 'credentials', rows: CREDENTIALS },
  { title: 'outbound calls', rows: OUTBOUND },
  { title: 'door to MCP server', rows: HOPS },
  ...(Object.keys(SHAPES) as Shape[]).map(shape => ({
    title: modelGroupTitle(shape),
    rows: modelRows(shape),
  })),
];

/** What rows are started beside. */
export interface Surroundings {
  readonly postgres: { readonly url: string; readonly pid: number } | undefined;
  /** Where calls go on to. */
  readonly mcpServer: string;
  readonly modelServer: string;
  /** Processes that rows share, by their word. */
  readonly shared: Map<string, BenchProcess<Ready>>;
}

/** Starts a row's process, unless it shares one that is there. Rejects when it ends before it is ready. */
export async function startRow(row: Row, around: Surroundings): Promise<RunningRow> {
  const database = row.onPostgres ? around.postgres : undefined;
  const found = row.shares === undefined ? undefined : around.shared.get(row.shares);
  const running =
    found ??
    (await startProcess<Ready>(row.script, {
      args: row.args ?? [],
      env: {
        BENCH_DATABASE_URL: database?.url ?? '',
        BENCH_MCP_SERVER: around.mcpServer,
        BENCH_MODEL_SERVER: around.modelServer,
      },
    }));
  if (row.shares !== undefined) around.shared.set(row.shares, running);
  const { pid, ready, ask, stop } = running;
  const target = row.call && { url: ready.url!, ...row.call(ready) };
  return {
    ...{ title: row.title, pid, stop },
    databasePid: database?.pid,
    load: (connections, seconds) =>
      target ? runLoad(target, connections, seconds) : (ask({ connections, seconds }) as Promise<LoadResult>),
  };
}
