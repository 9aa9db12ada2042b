import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { cpus, release, tmpdir, type } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startPostgres } from '@patchbay/testing/postgres';
import { installPinned } from '../test/judges/install-pinned.ts';
import { startProcess } from './bench-process.ts';
import { type Figure, measureConnections } from './connections.ts';
import { type FirstWords, measureFirstWords } from './first-words.ts';
import { measure, medianOf, type Sample, TOGETHER, warmUp } from './measure.ts';
import { modelShares, type Shares } from './model-shares.ts';
import {
  GROUPS,
  type Group,
  modelGroupTitle,
  type Row,
  type RunningRow,
  type Surroundings,
  startRow,
} from './rows.ts';
import { type MeasuredGroup, type MeasuredRow, renderColumns, renderFigures, renderTable } from './table.ts';
import { measureWaiting } from './waiting.ts';

const HELP = `Measures the doors beside node:http and bare servers of the MCP SDK, calls of other servers' tools beside a raw
request and the SDK's client, turns that make such calls beside gateways from npm, turns with a language model beside the
loops of the AI SDK and Mastra, conversations that wait for a person, and connections.

  npm run bench                  5 rounds, about 40 minutes; writes bench/results/<date>-<name>.md and .json
  npm run bench -- --quick       2 short rounds, about 8 minutes; prints only
  npm run bench -- --only WORD   rows and groups whose title contains the word, and what they are compared with; groups are
                                 doors, credentials, outbound calls, door to MCP server, model turn, model's first words, model's waiting calls,
                                 connections; "model" is all that has to do with models, about 20 minutes
  npm run bench -- --name NAME   name of the result (default: foundation)

Every server runs in a process of its own. All start first and are warmed up. Then each round goes through all of
them in a rotated order, over one connection first, then over ${TOGETHER}, so that a machine that gets slower does so for
everybody; the table shows medians of the rounds. Calls are of echo size over plain HTTP with keep-alive, ids differ
between connections, and every answer is checked. CPU per call is that of the server's whole process tree at ${TOGETHER}
connections, its PostgreSQL server and the programs it started included, the MCP server that calls go on to not, read from
/proc (Linux only). A turn with a model is durable here and kept nowhere by the loops beside it; all of them ask the same
model, which answers without latency in a process that is not counted, and call the same MCP server. What a model step and
a tool call take is worked out from the differences between turns with 0, 1 and 5 calls. Ratios inside one run are worth
reading, figures of different runs are not: machines drift. Let nothing else run beside it.
`;

/** What has no throughput: groups by these names. */
const CONNECTIONS = 'connections';
const FIRST_WORDS = "model's first words";
const WAITING = "model's waiting calls";

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    name: { type: 'string', default: 'foundation' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

interface Plan {
  readonly rounds: number;
  /** A row is called over one connection and over many. */
  readonly seconds: { readonly alone: number; readonly together: number };
  readonly warmUp: { readonly calls: number; readonly seconds: number };
  /** Rounds of connections. */
  readonly figureRounds: number;
  /** Answers that are listened to. */
  readonly listened: number;
  /** Conversations that wait. */
  readonly waiting: number;
}

const FULL: Plan = {
  rounds: 5,
  seconds: { alone: 2, together: 4 },
  warmUp: { calls: 8000, seconds: 20 },
  figureRounds: 3,
  listened: 200,
  waiting: 1_000,
};
const QUICK: Plan = {
  rounds: 2,
  seconds: { alone: 0.5, together: 1.5 },
  warmUp: { calls: 2000, seconds: 3 },
  figureRounds: 1,
  listened: 30,
  waiting: 100,
};

async function bench(): Promise<void> {
  await installPinned(import.meta.dirname);
  const plan = options.quick ? QUICK : FULL;
  const chosen = GROUPS.map(chosenOf).filter(({ rows }) => rows.length > 0);
  await using stack = new AsyncDisposableStack();
  const mcpServer = await startProcess<{ url: string }>('mcp-server.ts');
  stack.defer(() => mcpServer.stop());
  const { url } = mcpServer.ready;
  const modelServer = await startProcess<{ url: string }>('model-server.ts');
  stack.defer(() => modelServer.stop());
  const servers = { mcpServer: url, modelServer: modelServer.ready.url };
  const groups = await measureGroups(chosen, servers, plan);
  const shares = modelShares(groups, modelGroupTitle);
  const firstWords = isNamed(FIRST_WORDS) ? await measureFirstWords(servers, plan.listened) : [];
  const waiting = isNamed(WAITING) ? await measureWaitingCalls(plan.waiting) : [];
  const figures = isNamed(CONNECTIONS) ? await measureConnections(url, plan.figureRounds, say) : [];
  const tables = [
    ...groups.map(renderTable),
    ...(shares.length > 0 ? [renderShares(shares)] : []),
    ...(firstWords.length > 0 ? [renderFirstWords(firstWords)] : []),
    ...(waiting.length > 0 ? [renderFigures(WAITING, waiting)] : []),
    ...(figures.length > 0 ? [renderFigures(CONNECTIONS, figures)] : []),
  ];
  const text = tables.join('\n\n');
  process.stdout.write(`${text}\n`);
  const measured = { groups, shares, firstWords, waiting, figures };
  if (!options.quick) await writeResults(plan.rounds, measured, text);
}

interface Measured {
  readonly row: Row;
  readonly running: RunningRow;
  readonly samples: Sample[];
}

async function measureGroups(
  groups: readonly Group[],
  servers: Pick<Surroundings, 'mcpServer' | 'modelServer'>,
  plan: Plan,
): Promise<MeasuredGroup[]> {
  await using stack = new AsyncDisposableStack();
  const onPostgres = groups.some(({ rows }) => rows.some(row => row.onPostgres));
  const postgres = onPostgres ? stack.use(await startPostgres({ durable: true })) : undefined;
  const all: Measured[] = [];
  const shared: Surroundings['shared'] = new Map();
  for (const row of groups.flatMap(({ rows }) => rows)) {
    const running = await startRow(row, { postgres, shared, ...servers });
    stack.defer(() => running.stop());
    all.push({ row, running, samples: [] });
  }
  if (all.length > 0) say('warming up');
  for (const { running } of all) await warmUp(running, plan.warmUp);
  for (let round = 0; all.length > 0 && round < plan.rounds; round++) {
    say(`round ${round + 1} of ${plan.rounds}`);
    for (const { running, samples } of rotated(all, round))
      samples.push(await measure(running, plan.seconds));
  }
  const measured = ({ row, samples }: Measured): MeasuredRow => ({
    title: row.title,
    yardstick: row.yardstick,
    sample: medianOf(samples),
  });
  return groups.map(({ title, rows }) => ({
    title,
    rows: all.filter(({ row }) => rows.includes(row)).map(measured),
  }));
}

async function measureWaitingCalls(conversations: number): Promise<readonly Figure[]> {
  const dataDir = await mkdtemp(join(tmpdir(), 'patchbay-bench-'));
  try {
    const { figures, complaints } = await measureWaiting({ dataDir, conversations, say });
    if (complaints.length > 0) throw new Error(complaints.slice(0, 10).join('; '));
    return figures;
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

function renderShares(shares: readonly Shares[]): string {
  const ms = (value: number) => value.toFixed(3);
  return renderColumns(
    'parts of a model turn',
    ['CPU ms', 'a model step', 'a tool call', 'the rest of a turn'],
    shares.map(({ title, modelStep, toolCall, rest }) => [title, ms(modelStep), ms(toolCall), ms(rest)]),
  );
}

function renderFirstWords(heard: readonly FirstWords[]): string {
  const ms = (value: number) => value.toFixed(1);
  return renderColumns(
    FIRST_WORDS,
    ['ms', 'first words, p50', 'first words, p99', 'whole answer, p50'],
    heard.map(({ title, first, whole }) => [title, ms(first.p50), ms(first.p99), ms(whole)]),
  );
}

/** The rows that the word names, and those that they are compared with. */
function chosenOf({ title, rows }: Group): Group {
  if (isNamed(title)) return { title, rows };
  const named = rows.filter(row => isNamed(row.title));
  return { title, rows: named.length === 0 ? [] : rows.filter(row => row.yardstick || named.includes(row)) };
}

function isNamed(title: string): boolean {
  return options.only === undefined || title.toLowerCase().includes(options.only.toLowerCase());
}

async function writeResults(
  rounds: number,
  measured: Readonly<Record<string, readonly object[]>>,
  tables: string,
): Promise<void> {
  const date = new Date().toISOString().slice(0, 10);
  const folder = join(import.meta.dirname, 'results');
  const machine = `${cpus()[0]?.model}, ${cpus().length} cores, ${type()} ${release()}, Node ${process.version}`;
  const text = [
    `# Bench: ${options.name}, ${date}`,
    '',
    `${machine}. ${rounds} rounds, medians; load generator and servers share the cores. \`npm run bench -- --help\` says how.`,
    '',
    tables,
    '',
  ].join('\n');
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${date}-${options.name}`);
  await writeFile(`${file}.md`, text);
  await writeFile(
    `${file}.json`,
    `${JSON.stringify({ date, machine, rounds, ...measured }, undefined, 2)}\n`,
  );
  say(`written: bench/results/${date}-${options.name}.md and .json`);
}

/** The same order, begun one further each round. */
function rotated<T>(list: readonly T[], by: number): T[] {
  const start = by % list.length;
  return [...list.slice(start), ...list.slice(0, start)];
}

/** Progress goes to stderr: stdout is the table. */
function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

if (options.help) process.stdout.write(HELP);
else await bench();
