import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createViews } from '../../packages/server/src/connections/server/server-view.ts';
import { exposeTools } from '../../packages/server/src/connections/tool/exposed-name.ts';
import { callTool, httpServer, ourCalls, programServer } from './our-connections.ts';

/** Measures connections in a process of its own: `connecting.ts WHAT`, with the server's address in `BENCH_MCP_SERVER` and `--expose-gc`. */
const server = process.env.BENCH_MCP_SERVER!;
const NOBODY = { agentId: 'bench', conversationId: undefined, userId: 'bench' };

type Figures = Readonly<Record<string, number>>;

const MEASURES: Readonly<Record<string, () => Promise<Figures>>> = {
  stateless: () => connectAll(i => ours(`${server}/stateless/${i}`)),
  session: () => connectAll(i => ours(`${server}/session/${i}`)),
  'sdk-stateless': () => connectAll(i => sdk(`${server}/stateless/${i}`)),
  'sdk-session': () => connectAll(i => sdk(`${server}/session/${i}`)),
  programs,
  tools,
  large,
};

const calls = ourCalls();
/** So that nothing that was made for a connection is let go of while memory is looked at. */
const held: unknown[] = [];

async function ours(url: string): Promise<void> {
  const connection = await calls.connection(httpServer(url), NOBODY);
  await connection.ready();
  held.push(connection);
}

async function sdk(url: string): Promise<void> {
  const client = new Client({ name: 'bench', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  held.push(client, await client.listTools());
}

/** Time to connect to 100 servers at once, tools listed; then what each of 1 000 more takes. */
async function connectAll(connect: (i: number) => Promise<void>): Promise<Figures> {
  await Promise.all(Array.from({ length: 20 }, (_, i) => connect(i)));
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: 100 }, (_, i) => connect(1_000 + i)));
  const ms = performance.now() - startedAt;
  const before = await memoryKb();
  for (let from = 0; from < 1_000; from += 50) {
    await Promise.all(Array.from({ length: 50 }, (_, i) => connect(10_000 + from + i)));
  }
  return { ms, kb: ((await memoryKb()) - before) / 1_000 };
}

/** Time to start 20 programs and to list their tools, then what each of 20 more takes here. */
async function programs(): Promise<Figures> {
  const start = async (i: number) => {
    const connection = await calls.connection(programServer(`program ${i}`), NOBODY);
    await connection.ready();
    held.push(connection);
  };
  await start(0);
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: 20 }, (_, i) => start(100 + i)));
  const ms = performance.now() - startedAt;
  const before = await memoryKb();
  await Promise.all(Array.from({ length: 20 }, (_, i) => start(200 + i)));
  return { ms, kb: ((await memoryKb()) - before) / 20 };
}

/** A list of 5 000 tools: from nothing to listed, read and judged, named; and how long others had to wait at the most. */
async function tools(): Promise<Figures> {
  const listed = async (i: number) => {
    const definition = httpServer(`${server}/session/many/${i}`);
    const connection = await calls.connection(definition, NOBODY);
    const startedAt = performance.now();
    await connection.ready();
    const list = connection.listed!;
    const listedAt = performance.now();
    const view = createViews()(definition, { tools: list, mirrorsArguments: false, accepted: undefined });
    const viewedAt = performance.now();
    exposeTools([{ server: definition.ref, prefix: 'many', tools: [...view.offered.keys()] }]);
    const namedAt = performance.now();
    return { list: listedAt - startedAt, view: viewedAt - listedAt, names: namedAt - viewedAt };
  };
  await listed(0);
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const figures = await listed(1);
  await setTimeout(5);
  delay.disable();
  return { ...figures, blocked: delay.max / 1e6 };
}

/** A result of 12 MB, and how long the calls of others take beside it. */
async function large(): Promise<Figures> {
  const definition = httpServer(`${server}/stateless`);
  const small = () => callTool(calls, definition, 'echo', { text: 'hello' });
  const big = async () => (await callTool(calls, definition, 'fill', { kilobytes: 12 * 1024 })).length;
  for (let i = 0; i < 200; i++) await small();
  await big();
  const startedAt = performance.now();
  const going = big();
  let slowest = 0;
  for (let isOver = false; !isOver; ) {
    const at = performance.now();
    await small();
    slowest = Math.max(slowest, performance.now() - at);
    isOver = await Promise.race([going.then(() => true), setTimeout(0, false)]);
  }
  return { ms: performance.now() - startedAt, slowest };
}

async function memoryKb(): Promise<number> {
  for (let i = 0; i < 4; i++) {
    await setTimeout(50);
    globalThis.gc!();
  }
  return process.memoryUsage.rss() / 1024;
}

process.on('disconnect', () => process.exit(0));
process.send?.(await MEASURES[process.argv[2]!]!());
