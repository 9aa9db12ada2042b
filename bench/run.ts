import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, release, type } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startPostgres } from '@patchbay/testing/postgres';
import { installPinned } from '../test/judges/install-pinned.ts';
import { measure, medianOf, type Sample, TOGETHER, warmUp } from './measure.ts';
import { ROWS, type RunningRow, startRow } from './rows.ts';
import { type MeasuredRow, renderTable } from './table.ts';

const HELP = `Measures both doors beside node:http and bare servers of the MCP SDK v1 and v2.

  npm run bench                  5 rounds, about 6 minutes; writes bench/results/<date>-<name>.md and .json
  npm run bench -- --quick       2 short rounds, about a minute; prints only
  npm run bench -- --only agent  rows whose title contains the word, and the yardsticks
  npm run bench -- --name NAME   name of the result (default: foundation)

Every server runs in a process of its own. All start first and are warmed up. Then each round goes through all of
them in a rotated order, over one connection first, then over ${TOGETHER}, so that a machine that gets slower does so for
everybody; the table shows medians of the rounds. Calls are of echo size over plain HTTP with keep-alive, ids differ
between connections, and every answer is checked. CPU per call is that of the server's whole process tree at ${TOGETHER}
connections, its PostgreSQL server included, read from /proc (Linux only). Ratios inside one run are worth reading,
figures of different runs are not: machines drift. Let nothing else run beside it.
`;

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    name: { type: 'string', default: 'foundation' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

/** Seconds a row is called over one connection and over many. */
const FULL = { rounds: 5, seconds: { alone: 2, together: 4 }, warmUp: { calls: 8000, seconds: 20 } };
const QUICK = { rounds: 2, seconds: { alone: 0.5, together: 1.5 }, warmUp: { calls: 2000, seconds: 3 } };

async function bench(): Promise<void> {
  await installPinned(import.meta.dirname);
  const plan = options.quick ? QUICK : FULL;
  const word = options.only?.toLowerCase();
  const chosen = ROWS.filter(row => !word || row.yardstick || row.title.toLowerCase().includes(word));
  await using stack = new AsyncDisposableStack();
  const postgres = chosen.some(row => row.onPostgres)
    ? stack.use(await startPostgres({ durable: true }))
    : undefined;
  const running: RunningRow[] = [];
  for (const row of chosen) {
    const started = await startRow(row, postgres);
    stack.defer(() => started.stop());
    running.push(started);
  }

  const samples = new Map<RunningRow, Sample[]>(running.map(row => [row, []]));
  say('warming up');
  for (const row of running) await warmUp(row, plan.warmUp);
  for (let round = 0; round < plan.rounds; round++) {
    say(`round ${round + 1} of ${plan.rounds}`);
    for (const row of rotated(running, round)) samples.get(row)!.push(await measure(row, plan.seconds));
  }

  const rows: MeasuredRow[] = chosen.map((row, i) => ({
    title: row.title,
    yardstick: row.yardstick,
    sample: medianOf(samples.get(running[i]!)!),
  }));
  const table = renderTable(rows);
  process.stdout.write(`${table}\n`);
  if (!options.quick) await writeResults(plan.rounds, rows, table);
}

async function writeResults(rounds: number, rows: readonly MeasuredRow[], table: string): Promise<void> {
  const date = new Date().toISOString().slice(0, 10);
  const folder = join(import.meta.dirname, 'results');
  const machine = `${cpus()[0]?.model}, ${cpus().length} cores, ${type()} ${release()}, Node ${process.version}`;
  const text = [
    `# Bench: ${options.name}, ${date}`,
    '',
    `${machine}. ${rounds} rounds, medians; load generator and servers share the cores. \`npm run bench -- --help\` says how.`,
    '',
    table,
    '',
  ].join('\n');
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${date}-${options.name}`);
  await writeFile(`${file}.md`, text);
  await writeFile(`${file}.json`, `${JSON.stringify({ date, machine, rounds, rows }, undefined, 2)}\n`);
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
