import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type PlatformProcess, startPlatformProcess } from '@patchbay/testing/platform-process';
import { startPostgres } from '@patchbay/testing/postgres';
import { sample } from 'fast-check';
import pg from 'pg';
import { faultSequence, playFaults } from '../test/connections/fault-sequence.ts';
import { approvalTrial, MOMENTS } from '../test/crash/approval-trial.ts';
import { WORLDS } from '../test/crash/counting-worlds.ts';
import { effectTrial } from '../test/crash/effect-trial.ts';
import { killTrial } from '../test/crash/kill-trial.ts';
import { pauseTrial } from '../test/crash/pause-trial.ts';
import { hostileRequests, judge, send } from '../test/robustness/hostile.ts';
import { measureGrowth } from './growth.ts';
import { inParallel } from './in-parallel.ts';
import { memoryMbOf } from './process-usage.ts';
import { AGENT_FILE } from './two-rules.ts';
import { measureWaiting } from './waiting.ts';

const HELP = `Long proofs: the code of the tests with a bigger number. Writes bench/results/<date>-soak-<name>.md.

  npm run soak -- kills        200 kills of the process during turns, 150 on SQLite and 50 on PostgreSQL
  npm run soak -- effects      100 kills of the process during calls of other servers, 75 on SQLite and 25 on PostgreSQL
  npm run soak -- pauses       100 kills while turns wait, are approved and go on; 20 of them with another node going on
  npm run soak -- approvals    75 kills around approved calls of models: 50 with a restart on SQLite, 25 with another node going on
  npm run soak -- waiting      1 000 conversations that wait for a person, and two restarts
  npm run soak -- growth       turns with a million stored conversations beside an empty store, on SQLite and PostgreSQL
  npm run soak -- agents       1 000 deployed agents: start, memory, lists, first words of each
  npm run soak -- hostile      10 000 malformed requests at each door
  npm run soak -- handshakes   100 000 handshakes that nobody ends, at both doors
  npm run soak -- slow         1 000 connections that say their request one byte at a time
  npm run soak -- servers      2 000 random sequences of what can happen to an MCP server while it is called
  npm run soak -- all          all of them
  --scale 0.1                  a tenth of it, to try something out
`;

interface Proof {
  readonly what: string;
  readonly figures: Readonly<Record<string, number | string>>;
  readonly complaints: readonly string[];
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { scale: { type: 'string', default: '1' }, help: { type: 'boolean', short: 'h', default: false } },
});
const scale = Number(values.scale);
const scaled = (count: number) => Math.max(1, Math.round(count * scale));

const PROOFS: Readonly<Record<string, () => Promise<Proof>>> = {
  kills,
  effects,
  pauses,
  approvals,
  waiting,
  growth,
  agents,
  hostile,
  handshakes,
  slow,
  servers,
};

async function kills(): Promise<Proof> {
  await using postgres = await startPostgres({ durable: true });
  const complaints: string[] = [];
  const acknowledged = { sqlite: 0, postgres: 0 };
  const trials = { sqlite: scaled(150), postgres: scaled(50) };
  for (const engine of ['sqlite', 'postgres'] as const) {
    for (let trial = 0; trial < trials[engine]; trial += 1) {
      await withFolder(async dataDir => {
        const databaseUrl =
          engine === 'postgres' ? await newDatabase(postgres.url, `kill_${trial}`) : undefined;
        // The moments differ from trial to trial, and a trial can be repeated by its number.
        const killAfterMs = 20 + ((trial * 37) % 700);
        const result = await killTrial({ dataDir, databaseUrl, conversations: 4, killAfterMs });
        acknowledged[engine] += result.acknowledged;
        complaints.push(...result.complaints.map(text => `${engine} trial ${trial}: ${text}`));
      });
      say(`kills: ${engine} ${trial + 1} of ${trials[engine]}, ${complaints.length} complaints`);
    }
  }
  return {
    what: 'kill -9 during turns in 4 conversations at once; after the restart every acknowledged message is stored once and in order, and every conversation takes the next one at once',
    figures: {
      'kills on SQLite': trials.sqlite,
      'kills on PostgreSQL': trials.postgres,
      'messages acknowledged on SQLite': acknowledged.sqlite,
      'messages acknowledged on PostgreSQL': acknowledged.postgres,
    },
    complaints,
  };
}

const KINDS = Object.keys(WORLDS) as (keyof typeof WORLDS)[];

async function effects(): Promise<Proof> {
  await using postgres = await startPostgres({ durable: true });
  const complaints: string[] = [];
  const sum = { acknowledged: 0, received: 0, unknown: 0 };
  const trials = { sqlite: scaled(75), postgres: scaled(25) };
  for (const engine of ['sqlite', 'postgres'] as const) {
    for (let trial = 0; trial < trials[engine]; trial += 1) {
      await withFolder(async dataDir => {
        const databaseUrl =
          engine === 'postgres' ? await newDatabase(postgres.url, `effects_${trial}`) : undefined;
        const killAfterMs = 30 + ((trial * 37) % 700);
        const world = KINDS[trial % KINDS.length];
        const result = await effectTrial({ dataDir, databaseUrl, conversations: 8, killAfterMs, world });
        for (const name of ['acknowledged', 'received', 'unknown'] as const) sum[name] += result[name];
        complaints.push(...result.complaints.map(text => `${engine} trial ${trial}: ${text}`));
      });
      say(`effects: ${engine} ${trial + 1} of ${trials[engine]}, ${complaints.length} complaints`);
    }
  }
  return {
    what: 'kill -9 while agents make two calls a turn, of HTTP or MCP servers, in 8 conversations at once; after the restart no call has reached the server twice, every one that reached it is in its conversation, and one nobody knows about is said to be unknown',
    figures: {
      'kills on SQLite': trials.sqlite,
      'kills on PostgreSQL': trials.postgres,
      'messages acknowledged': sum.acknowledged,
      'calls received by the server': sum.received,
      'calls said to be unknown': sum.unknown,
    },
    complaints,
  };
}

async function pauses(): Promise<Proof> {
  await using postgres = await startPostgres({ durable: true });
  const complaints: string[] = [];
  const sum = { approved: 0, underWay: 0, received: 0 };
  const series = [
    { name: 'sqlite', trials: scaled(60), other: false },
    { name: 'postgres', trials: scaled(20), other: false },
    { name: 'another node', trials: scaled(20), other: true },
  ];
  for (const { name, trials, other } of series) {
    for (let trial = 0; trial < trials; trial += 1) {
      await withFolder(async dataDir => {
        const database = `pauses_${trial}${other ? '_other' : ''}`;
        const databaseUrl = name === 'sqlite' ? undefined : await newDatabase(postgres.url, database);
        const killAfterMs = 60 + ((trial * 53) % 900);
        const result = await pauseTrial({ dataDir, databaseUrl, conversations: 8, killAfterMs, other });
        for (const figure of ['approved', 'underWay', 'received'] as const) sum[figure] += result[figure];
        complaints.push(...result.complaints.map(text => `${name}, trial ${trial}: ${text}`));
      });
      say(`pauses: ${name} ${trial + 1} of ${trials}, ${complaints.length} complaints`);
    }
  }
  return {
    what: 'kill -9 while turns wait for a person, are approved and go on with a call, in 8 conversations at once; after that every confirmed approval has led to one call and one stored turn, what waited waits still, and no conversation is stuck',
    figures: {
      'kills with a restart on SQLite': series[0]!.trials,
      'kills with a restart on PostgreSQL': series[1]!.trials,
      'kills with another node going on': series[2]!.trials,
      'approvals confirmed': sum.approved,
      'of these under way at the kill': sum.underWay,
      'calls received by the server': sum.received,
    },
    complaints,
  };
}

async function approvals(): Promise<Proof> {
  await using postgres = await startPostgres({ durable: true });
  const complaints: string[] = [];
  const sum = { decided: 0, received: 0, unknown: 0 };
  const trials = { sqlite: scaled(50), 'another node': scaled(25) };
  for (const series of ['sqlite', 'another node'] as const) {
    for (let trial = 0; trial < trials[series]; trial += 1) {
      const moment = MOMENTS[trial % MOMENTS.length]!;
      await withFolder(async dataDir => {
        const other = series === 'another node';
        const databaseUrl = other ? await newDatabase(postgres.url, `approvals_${trial}`) : undefined;
        // The moments differ from trial to trial, and a trial can be repeated by its number.
        const variation = trial * 7;
        const result = await approvalTrial({
          ...{ dataDir, databaseUrl, conversations: 8, moment, variation, other },
        });
        for (const figure of ['decided', 'received', 'unknown'] as const) sum[figure] += result[figure];
        complaints.push(...result.complaints.map(text => `${series}, trial ${trial}, ${moment}: ${text}`));
      });
      say(`approvals: ${series} ${trial + 1} of ${trials[series]}, ${complaints.length} complaints`);
    }
  }
  return {
    what: 'kill -9 while models wait for approval of two calls each in 8 conversations at once, while people decide, when they have decided, while the approved calls are made and when they are answered; after that each approved call was made at most once and exactly as it was shown, no other one was made, none is reported otherwise than it was, and every conversation takes the next message',
    figures: {
      'kills with a restart on SQLite': trials.sqlite,
      'kills with another node going on, on PostgreSQL': trials['another node'],
      'decisions confirmed before a kill': sum.decided,
      'approved calls received by the server': sum.received,
      'calls said to be unknown': sum.unknown,
    },
    complaints,
  };
}

async function waiting(): Promise<Proof> {
  const conversations = scaled(1_000);
  const figures: Record<string, string> = {};
  const complaints: string[] = [];
  for (const engine of ['SQLite', 'PostgreSQL'] as const) {
    await using postgres = engine === 'PostgreSQL' ? await startPostgres({ durable: true }) : undefined;
    const proof = await withFolder(async dataDir => {
      const databaseUrl = postgres && (await newDatabase(postgres.url, 'waiting'));
      const tell = (text: string) => say(`waiting: ${engine}, ${text}`);
      return measureWaiting({ dataDir, databaseUrl, conversations, say: tell });
    });
    for (const { what, value, unit } of proof.figures)
      figures[`${engine}: ${what}`] = `${value.toFixed(value < 10 ? 1 : 0)} ${unit}`;
    complaints.push(...proof.complaints.map(text => `${engine}: ${text}`));
  }
  return {
    what: 'many conversations wait for a person to approve calls of their models; some are approved before a restart, some after it, the rest after a kill -9, and each call is made exactly once and as it was shown',
    figures,
    complaints,
  };
}

/** How slow the p99 of a turn may get (performance.md), and how long anything a person asks may take. */
const GROWTH_LIMITS = { turn: 1.2, whileRetiring: 2, askedMs: 1_000 };

async function growth(): Promise<Proof> {
  const conversations = scaled(1_000_000);
  const figures: Record<string, number> = { 'stored conversations': conversations };
  const complaints: string[] = [];
  for (const engine of ['SQLite', 'PostgreSQL'] as const) {
    await using postgres = engine === 'PostgreSQL' ? await startPostgres({ durable: true }) : undefined;
    const grown = await withFolder(async home => {
      const folders = { empty: join(home, 'empty'), grown: join(home, 'grown') };
      for (const folder of Object.values(folders)) await mkdir(folder);
      const databases = postgres && {
        empty: await newDatabase(postgres.url, 'empty'),
        grown: await newDatabase(postgres.url, 'grown'),
      };
      const tell = (text: string) => say(`growth: ${engine}, ${text}`);
      return measureGrowth({ conversations, rounds: 10, folders, databases, say: tell });
    });
    const put = (what: string, value: number) => {
      figures[`${engine}: ${what}`] = Math.round(value * 100) / 100;
    };
    put('p99 of a turn, times that of an empty store', grown.turn);
    put('p99 of a conversation that starts, times that of an empty store', grown.start);
    put('conversations retired by one job', grown.retired);
    put('seconds that took', grown.retiringSeconds);
    put('p99 of a turn meanwhile, times that of an empty store', grown.whileRetiring);
    for (const [what, ms] of Object.entries(grown.asked)) {
      put(`${what}, slowest of 5, ms`, ms);
      if (ms > GROWTH_LIMITS.askedMs) complaints.push(`${engine}: ${what} took ${Math.round(ms)} ms`);
    }
    for (const figure of ['turn', 'whileRetiring'] as const) {
      if (grown[figure] > GROWTH_LIMITS[figure])
        complaints.push(`${engine}: ${figure} is ${grown[figure].toFixed(2)} of an empty store`);
    }
  }
  return {
    what: 'turns over 8 connections in a store with many conversations of all ages and states, by turns with an empty one on the same machine, while old ones are ended and deleted and after that',
    figures,
    complaints,
  };
}

/** What an installation with many agents may cost (performance.md: start and memory at rest), and how long a list may take. */
const AGENTS_LIMITS = { startMs: 2_000, restMb: 250, listMs: 500 };

async function agents(): Promise<Proof> {
  return withFolder(async dataDir => {
    const env = { PATCHBAY_LOG_LEVEL: 'error', PATCHBAY_AGENT_DOOR_RATE: '0' };
    const count = scaled(1_000);
    const first = await startPlatformProcess({ dataDir, env });
    const names = Array.from({ length: count }, (_, index) => `agent_${index}`);
    await inParallel(8, names, async agent => {
      await first.client.call('deploy_agent_file', { file: { ...AGENT_FILE, agent, name: agent } });
    });
    first.process.kill('SIGTERM');
    await once(first.process, 'exit');

    const began = performance.now();
    const platform = await startPlatformProcess({ dataDir, env });
    const startMs = performance.now() - began;
    const { client } = platform;
    const took = async (ask: () => Promise<unknown>) => {
      const asked = performance.now();
      await ask();
      return performance.now() - asked;
    };
    const restMb = memoryOf(platform);
    const lists = {
      'list_agents, ms': await took(() => client.call('list_agents', {})),
      'discover_agents, ms': await took(() => client.call('discover_agents', { filter: 'agent_99' })),
      'list_agent_configs, ms': await took(() => client.call('list_agent_configs', { limit: 100 })),
    };
    let slowest = 0;
    for (const agentId of names) {
      const ms = await took(() => client.call('chat_with_agent', { agentId, message: 'hello' }));
      slowest = Math.max(slowest, ms);
    }
    const spokenMb = memoryOf(platform);
    platform.process.kill('SIGTERM');
    await once(platform.process, 'exit');
    const rounded = (value: number) => Math.round(value);
    return {
      what: 'an installation with many deployed agents: a start, lists, and a first message to each of them',
      figures: {
        'deployed agents': count,
        'start to ready, ms': rounded(startMs),
        'memory at rest, MB': restMb,
        ...Object.fromEntries(Object.entries(lists).map(([what, ms]) => [what, rounded(ms)])),
        'slowest first message to an agent, ms': rounded(slowest),
        'memory when all have been talked to, MB': spokenMb,
      },
      complaints: [
        ...(startMs > AGENTS_LIMITS.startMs ? [`the start took ${rounded(startMs)} ms`] : []),
        ...(restMb > AGENTS_LIMITS.restMb ? [`${restMb} MB at rest`] : []),
        ...Object.entries(lists).flatMap(([what, ms]) =>
          ms > AGENTS_LIMITS.listMs ? [`${what}: ${rounded(ms)}`] : [],
        ),
      ],
    };
  });
}

async function hostile(): Promise<Proof> {
  return onPlatform({}, async platform => {
    const { key } = await platform.client.call('create_key', { scopes: ['agents', 'operator'] });
    const complaints: string[] = [];
    const statuses = new Map<number, number>();
    const memory: number[] = [memoryOf(platform)];
    const count = scaled(10_000);
    for (const address of [platform.operatorUrl, `${platform.url}/demo/mcp`]) {
      const door = new URL(address);
      const requests = hostileRequests(door, key, { count, seed: 20261130 });
      for (let start = 0; start < requests.length; start += 500) {
        await inParallel(8, requests.slice(start, start + 500), async request => {
          const answer = await send(door, request);
          statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
          complaints.push(...judge(request, answer));
        });
        memory.push(memoryOf(platform));
        say(`hostile: ${door.pathname} ${start + 500} of ${count}, ${complaints.length} complaints`);
      }
    }
    return {
      what: 'malformed requests of 17 kinds at both doors, 8 at a time: no crash, no server error, no words from inside, memory flat',
      figures: {
        'requests at each door': count,
        ...Object.fromEntries([...statuses].sort().map(([status, times]) => [`status ${status}`, times])),
        ...memoryFigures(memory),
      },
      complaints: [...complaints, ...memoryComplaints(memory)],
    };
  });
}

async function servers(): Promise<Proof> {
  const complaints: string[] = [];
  const sum = { calls: 0, answered: 0, unsent: 0 };
  const sequences = sample(faultSequence, { numRuns: scaled(2_000), seed: 20261130 });
  for (const [n, sequence] of sequences.entries()) {
    const result = await playFaults(sequence);
    for (const name of ['calls', 'answered', 'unsent'] as const) sum[name] += result[name];
    complaints.push(...result.complaints.map(text => `sequence ${n}: ${text}: ${JSON.stringify(sequence)}`));
    if (n % 100 === 99) say(`servers: ${n + 1} of ${sequences.length}, ${complaints.length} complaints`);
  }
  return {
    what: 'random sequences of 60 kinds of bad answers, restarts, forgotten sessions, changes of the era and broken streams, with up to 5 calls at a time; the server counts: no call is executed twice, none that was said not to have arrived was executed, none is answered with anything but its own answer, and afterwards the server is called as before',
    figures: {
      sequences: sequences.length,
      calls: sum.calls,
      answered: sum.answered,
      'said not to have arrived': sum.unsent,
      'of another outcome': sum.calls - sum.answered - sum.unsent,
    },
    complaints,
  };
}

async function handshakes(): Promise<Proof> {
  return onPlatform({}, async platform => {
    const { key } = await platform.client.call('create_key', { scopes: ['agents', 'operator'] });
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'soak', version: '1' } },
    });
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const memory: number[] = [memoryOf(platform)];
    const count = scaled(100_000);
    let refused = 0;
    for (let done = 0; done < count; done += 2_000) {
      await inParallel(
        16,
        Array.from({ length: Math.min(2_000, count - done) }, (_, index) => index),
        async index => {
          const url = index % 2 === 0 ? platform.operatorUrl : `${platform.url}/demo/mcp`;
          const response = await fetch(url, { method: 'POST', headers, body });
          await response.text();
          if (!response.ok || !response.headers.has('mcp-session-id')) refused += 1;
        },
      );
      memory.push(memoryOf(platform));
      say(`handshakes: ${done + 2_000} of ${count}`);
    }
    return {
      what: 'handshakes of the older eras without a DELETE, at both doors by turns: a session is its id, so nothing is kept',
      figures: { handshakes: count, ...memoryFigures(memory) },
      complaints: [
        ...(refused > 0 ? [`${refused} handshakes were refused`] : []),
        ...memoryComplaints(memory),
      ],
    };
  });
}

async function slow(): Promise<Proof> {
  return onPlatform({}, async platform => {
    const { key } = await platform.client.call('create_key', { scopes: ['agents'] });
    const url = new URL(`${platform.url}/demo/mcp`);
    const count = scaled(1_000);
    const complaints: string[] = [];
    const sockets: Socket[] = [];
    let closed = 0;
    for (let index = 0; index < count; index += 1) {
      const socket = connect(Number(url.port), url.hostname);
      socket.on('error', () => {});
      socket.on('close', () => {
        closed += 1;
      });
      socket.write(`POST ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\n`);
      sockets.push(socket);
    }
    const drip = setInterval(() => {
      for (const socket of sockets) if (!socket.destroyed) socket.write('x');
    }, 1_000);
    const ask = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'demo', arguments: { message: 'hello' } },
    });
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const waits: number[] = [];
    for (let call = 0; call < 50; call += 1) {
      const started = performance.now();
      const response = await fetch(url, { method: 'POST', headers, body: ask });
      await response.text();
      waits.push(performance.now() - started);
      if (!response.ok) complaints.push(`an honest call got ${response.status}`);
    }
    // Node ends a request whose headers do not come whole within a minute.
    for (let second = 0; second < 100 && closed < count; second += 1) {
      await new Promise(resolve => setTimeout(resolve, 1_000));
      say(`slow: ${closed} of ${count} connections ended by the server after ${second + 1} s`);
    }
    clearInterval(drip);
    if (closed < count) complaints.push(`${count - closed} slow connections were never ended`);
    for (const socket of sockets) socket.destroy();
    waits.sort((a, b) => a - b);
    return {
      what: 'connections that say their headers one byte a second, while 50 honest calls are made; the server ends each within 100 seconds',
      figures: {
        'slow connections': count,
        'ended by the server': closed,
        'honest call, median ms': Math.round(waits[25]!),
        'honest call, slowest ms': Math.round(waits.at(-1)!),
      },
      complaints,
    };
  });
}

async function onPlatform(
  env: Readonly<Record<string, string>>,
  prove: (platform: PlatformProcess) => Promise<Proof>,
): Promise<Proof> {
  return withFolder(async dataDir => {
    const platform = await startPlatformProcess({
      dataDir,
      env: { PATCHBAY_LOG_LEVEL: 'error', PATCHBAY_AGENT_DOOR_RATE: '0', ...env },
    });
    let died = false;
    platform.process.once('exit', () => {
      died = true;
    });
    try {
      const proof = await prove(platform);
      return died ? { ...proof, complaints: [...proof.complaints, 'the platform died'] } : proof;
    } finally {
      if (!died) {
        platform.process.kill('SIGTERM');
        await once(platform.process, 'exit');
      }
    }
  });
}

async function withFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-soak-'));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function newDatabase(server: string, name: string): Promise<string> {
  const client = new pg.Client(server);
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

function memoryOf(platform: PlatformProcess): number {
  return Math.round(memoryMbOf([platform.process.pid!], 'Rss'));
}

function memoryFigures(memory: readonly number[]) {
  return {
    'memory at the start, MB': memory[0]!,
    'memory after the first half, highest, MB': Math.max(...memory.slice(0, Math.ceil(memory.length / 2))),
    'memory in the second half, highest, MB': Math.max(...memory.slice(Math.ceil(memory.length / 2)), 0),
  };
}

/** A heap grows to what it needs and stays there: the second half may not need noticeably more than the first. */
function memoryComplaints(memory: readonly number[]): string[] {
  const half = Math.ceil(memory.length / 2);
  if (memory.length < 10) return [];
  const [first, second] = [Math.max(...memory.slice(0, half)), Math.max(...memory.slice(half))];
  return second > first * 1.25 + 20
    ? [`memory went from ${first} MB in the first half to ${second} MB in the second`]
    : [];
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

function render(name: string, { what, figures, complaints }: Proof, seconds: number): string {
  const rows = Object.entries({ ...figures, 'seconds in all': Math.round(seconds) }).map(
    ([label, value]) => `| ${label} | ${value} |`,
  );
  const verdict =
    complaints.length === 0 ? 'Held: no complaint.' : `**Not held: ${complaints.length} complaints.**`;
  return [
    `# Soak: ${name}, ${new Date().toISOString().slice(0, 10)}`,
    '',
    `${what}.`,
    '',
    `${cpus().length} cores, Node ${process.version}. \`npm run soak -- ${name}\``,
    '',
    '| figure | |',
    '| --- | ---: |',
    ...rows,
    '',
    verdict,
    ...complaints.slice(0, 20).map(text => `- ${text}`),
    '',
  ].join('\n');
}

const [name] = positionals;
const names = name === 'all' ? Object.keys(PROOFS) : [name ?? ''];
if (values.help || names.some(one => !PROOFS[one])) {
  process.stdout.write(HELP);
  process.exitCode = values.help ? 0 : 2;
} else {
  for (const one of names) {
    const started = performance.now();
    const proof = await PROOFS[one]!();
    const text = render(one, proof, (performance.now() - started) / 1000);
    process.stdout.write(text);
    if (proof.complaints.length > 0) process.exitCode = 1;
    if (scale !== 1) continue;
    const folder = join(import.meta.dirname, 'results');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, `${new Date().toISOString().slice(0, 10)}-soak-${one}.md`), text);
  }
}
