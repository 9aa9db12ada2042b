import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { type PlatformProcess, startPlatformProcess } from '@patchbay/testing/platform-process';
import { startProcess } from './bench-process.ts';
import { percentile } from './load.ts';
import { memoryMbOf } from './process-usage.ts';
import { AGENT, AGENT_FILE, toolCallingAgent } from './two-rules.ts';

/** What is measured once a round and has no throughput. */
export interface Figure {
  readonly what: string;
  readonly unit: 'ms' | 'MB' | 'KB';
  readonly value: number;
  /** At most, where design has an aim. */
  readonly aim?: number;
}

type Figures = Readonly<Record<string, number>>;

const ENV = {
  PATCHBAY_AGENT_DOOR_RATE: '0',
  PATCHBAY_CONNECTIONS_CALLS_PER_MINUTE: '0',
  PATCHBAY_EGRESS_PRIVATE_HOSTS: '127.0.0.1',
};

const MCP_PROGRAM = join(import.meta.dirname, 'servers', 'mcp-program.ts');
const MANY_SESSIONS = 32;
const REGISTERED = 20;
const MEGABYTES = 12;

/** Measures connections, large lists and results, and starts, so many times; the medians. `mcpServer` is the server that is connected to. */
export async function measureConnections(
  mcpServer: string,
  rounds: number,
  say: (text: string) => void,
): Promise<Figure[]> {
  const all: Figure[][] = [];
  for (let round = 0; round < rounds; round++) {
    say(`connections, round ${round + 1} of ${rounds}`);
    all.push([
      ...(await connecting(mcpServer)),
      ...(await ofPlatform(mcpServer)),
      ...(await starting(mcpServer)),
    ]);
  }
  return all[0]!.map((figure, i) => {
    const values = all.map(one => one[i]!.value).sort((a, b) => a - b);
    return { ...figure, value: percentile(values, 0.5) };
  });
}

async function connecting(mcpServer: string): Promise<Figure[]> {
  const run = async (what: string): Promise<Figures> => {
    const { ready, stop } = await startProcess<Figures>('connecting.ts', {
      args: [what],
      env: { BENCH_MCP_SERVER: mcpServer },
      execArgv: ['--expose-gc'],
    });
    await stop();
    return ready;
  };
  const figures: Figure[] = [];
  const eras = { stateless: 'stateless', session: 'with a session' };
  for (const [era, words] of Object.entries(eras)) {
    const ours = await run(era);
    const sdk = await run(`sdk-${era}`);
    figures.push(
      { what: `100 servers connected at once and listed, HTTP ${words}`, unit: 'ms', value: ours.ms! },
      { what: `the same with SDK clients`, unit: 'ms', value: sdk.ms! },
      { what: `one connection, HTTP ${words}`, unit: 'KB', value: ours.kb! },
      { what: `the same with an SDK client`, unit: 'KB', value: sdk.kb! },
    );
  }
  const programs = await run('programs');
  const tools = await run('tools');
  const large = await run('large');
  return [
    ...figures,
    { what: '20 programs started at once and listed', unit: 'ms', value: programs.ms! },
    { what: 'one connection to a program, without the program itself', unit: 'KB', value: programs.kb! },
    { what: 'tools/list of 5 000 tools, connecting included', unit: 'ms', value: tools.list! },
    { what: 'reading and judging the 5 000', unit: 'ms', value: tools.view! },
    { what: 'naming the 5 000 for models', unit: 'ms', value: tools.names! },
    { what: 'longest time nobody else got a turn meanwhile', unit: 'ms', value: tools.blocked! },
    { what: `result of ${MEGABYTES} MB through the call table`, unit: 'ms', value: large.ms!, aim: 600 },
    { what: 'slowest small call meanwhile', unit: 'ms', value: large.slowest! },
  ];
}

async function ofPlatform(mcpServer: string): Promise<Figure[]> {
  const home = await mkdtemp(join(tmpdir(), 'patchbay-bench-'));
  const platform = await startPlatformProcess({ dataDir: home, env: ENV });
  try {
    return await measurePlatform(platform, mcpServer);
  } finally {
    await end(platform);
    await rm(home, { recursive: true, force: true });
  }
}

async function measurePlatform({ client, process }: PlatformProcess, mcpServer: string): Promise<Figure[]> {
  const memoryMb = () => memoryMbOf([process.pid!], 'Rss');
  await setTimeout(2_000);
  const atRest = memoryMb();
  const program = { command: execPath, args: [MCP_PROGRAM], gated: false };
  await client.call('add_server', { name: 'shared', options: program, wait: true });
  await client.call('add_server', {
    name: 'http',
    options: { url: `${mcpServer}/session`, gated: false, maxResultBytes: 16 * 1024 * 1024 },
    wait: true,
  });
  const echo = { toolName: 'echo', toolArguments: { text: '{{ input }}' } };
  const fill = { toolName: 'fill', toolArguments: { kilobytes: MEGABYTES * 1024 } };
  const talk = async (agentId: string, file: Record<string, unknown>, sessions: number) => {
    await client.call('deploy_agent_file', { file: { ...file, agent: agentId } });
    const starting = Array.from({ length: sessions }, () => client.call('create_conversation', { agentId }));
    const conversations = (await Promise.all(starting)).map(({ conversationId }) => conversationId!);
    return (i: number) =>
      client.call('talk_to_agent', { agentId, conversationId: conversations[i]!, message: 'hello' });
  };
  const share = await talk('share', toolCallingAgent('patchbay:servers/shared', echo), MANY_SESSIONS);
  for (let round = 0; round < 20; round++) {
    await Promise.all(Array.from({ length: MANY_SESSIONS }, (_, i) => share(i)));
  }
  const shared = memoryMb();

  const fillAgent = await talk(
    'filling',
    toolCallingAgent('patchbay:servers/http', { ...fill, saveResponse: false }, 'There it is.'),
    1,
  );
  const other = await talk(AGENT, AGENT_FILE, 1);
  for (let i = 0; i < 200; i++) await other(0);
  const alone = await slowestOf(other, setTimeout(500));
  const door = await timed(() => fillAgent(0), other);
  const byHand = await timed(
    () => client.call('call_server_tool', { name: 'http', tool: 'fill', arguments: fill.toolArguments }),
    other,
  );
  return [
    { what: 'platform at rest', unit: 'MB', value: atRest, aim: 180 },
    {
      what: `${MANY_SESSIONS} conversations that share a program, the program included`,
      unit: 'MB',
      value: shared,
      aim: 250,
    },
    { what: `result of ${MEGABYTES} MB through a turn of an agent`, unit: 'ms', value: door.ms, aim: 600 },
    { what: 'slowest turn of another agent meanwhile', unit: 'ms', value: door.slowest },
    { what: 'slowest of its turns in half a second with nothing beside them', unit: 'ms', value: alone },
    {
      what: `result of ${MEGABYTES} MB through REST, called by hand`,
      unit: 'ms',
      value: byHand.ms,
      aim: 600,
    },
    { what: 'slowest turn of another agent meanwhile', unit: 'ms', value: byHand.slowest },
  ];
}

/** From the command to the first answer. */
async function starting(mcpServer: string): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const registered of [0, REGISTERED]) {
    const home = await mkdtemp(join(tmpdir(), 'patchbay-bench-'));
    const starts: number[] = [];
    for (const isFirst of [true, false, false]) {
      const startedAt = performance.now();
      const platform = await startPlatformProcess({ dataDir: home, env: ENV });
      starts.push(performance.now() - startedAt);
      if (isFirst) {
        for (let i = 0; i < registered; i++) {
          await platform.client.call('add_server', {
            name: `s${i}`,
            options: { url: `${mcpServer}/session/${i}` },
          });
        }
      }
      await end(platform);
    }
    await rm(home, { recursive: true, force: true });
    const [first, , later] = starts as [number, number, number];
    if (registered === 0)
      figures.push({ what: 'start to ready, the first time', unit: 'ms', value: first, aim: 2_000 });
    figures.push({
      what: `start to ready, later, ${registered} servers registered`,
      unit: 'ms',
      value: later,
      aim: 1_000,
    });
  }
  return figures;
}

async function timed(
  work: () => Promise<unknown>,
  other: (i: number) => Promise<unknown>,
): Promise<{ readonly ms: number; readonly slowest: number }> {
  await work();
  const startedAt = performance.now();
  const going = work().then(() => performance.now() - startedAt);
  const slowest = await slowestOf(other, going);
  return { ms: await going, slowest };
}

/** The slowest of the calls that are made one after the other until then. */
async function slowestOf(call: (i: number) => Promise<unknown>, until: Promise<unknown>): Promise<number> {
  let isOver = false;
  const over = until.then(() => {
    isOver = true;
  });
  let slowest = 0;
  while (!isOver) {
    const at = performance.now();
    await call(0);
    slowest = Math.max(slowest, performance.now() - at);
  }
  await over;
  return slowest;
}

async function end({ process }: PlatformProcess): Promise<void> {
  const exited = once(process, 'exit');
  process.kill();
  await exited;
}
