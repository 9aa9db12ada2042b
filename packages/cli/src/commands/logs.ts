import { setTimeout as sleep } from 'node:timers/promises';
import type { OperationOutput } from '@patchbay/contract/client';
import { SHOWN_LOG_LEVELS } from '@patchbay/contract/operations/diagnostics';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { connect } from '../connection.ts';
import type { Io } from '../io.ts';
import { addSharedOptions, type SharedOptions, sharedOptions } from '../shared-options.ts';
import { printable, writeJson, writeLine } from '../text.ts';

interface LogsOptions extends SharedOptions {
  readonly level?: (typeof SHOWN_LOG_LEVELS)[number];
  readonly agent?: string;
  readonly conversation?: string;
  readonly limit?: number;
  readonly follow?: boolean;
}

type Entry = OperationOutput<'read_agent_logs'>['entries'][number];

const LOOK_AGAIN_MS = 1_000;
const SHOWN = 50;
/** What is asked for while following: of more lines than this within a second, the oldest are not shown. */
const FOLLOWED = 1_000;

export function addLogs(program: Command, io: Io): void {
  addSharedOptions(program.command('logs'))
    .description('show what the platform logged, oldest first')
    .addOption(
      new Option('--level <level>', 'the least important lines to show')
        .choices(SHOWN_LOG_LEVELS)
        .argParser(parseLevel),
    )
    .option('--agent <id>', 'only lines about this agent')
    .option('--conversation <id>', 'only lines about this conversation')
    .option('--limit <lines>', 'the latest so many lines, up to 1000 (default: 50)', parseLimit)
    .option('--follow', 'stay and show new lines; Ctrl-C ends it')
    .addHelpText(
      'after',
      `
Examples:
  npx patchbay logs --level warn
  npx patchbay logs --conversation conv_abc
  npx patchbay logs --follow`,
    )
    .action(async (_: unknown, command: Command) => logs(io, sharedOptions(command) as LogsOptions));
}

async function logs(io: Io, options: LogsOptions): Promise<void> {
  const { level, agent, conversation, limit = SHOWN, follow, json } = options;
  const { client } = await connect(io, options);
  const read = (lines: number) =>
    client.call('read_agent_logs', { level, agentId: agent, conversationId: conversation, limit: lines });
  const write = (entries: readonly Entry[]) => {
    for (const entry of entries.toReversed())
      writeLine(io.stdout, json ? JSON.stringify(entry) : lineOf(entry));
  };
  if (!follow) {
    const answer = await read(limit);
    if (json) return writeJson(io.stdout, answer);
    if (answer.count === 0) return writeLine(io.stderr, 'No lines.');
    return write(answer.entries);
  }
  const { entries } = await read(FOLLOWED);
  write(entries.slice(0, limit));
  await untilStopped(
    io,
    async seen => {
      const next = await read(FOLLOWED);
      // Lines of other nodes come some seconds late: what is new is not only what is latest.
      write(next.entries.filter(entry => !seen.has(JSON.stringify(entry))));
      return next.entries;
    },
    entries,
  );
}

/** Looks again and again, each time knowing what was there the time before. */
async function untilStopped(
  io: Io,
  look: (seen: ReadonlySet<string>) => Promise<readonly Entry[]>,
  first: readonly Entry[],
): Promise<void> {
  const stopped = new AbortController();
  const { signal } = stopped;
  const stop = () => stopped.abort();
  for (const name of ['SIGINT', 'SIGTERM'] as const) io.signals.on(name, stop);
  try {
    for (let entries = first; ; ) {
      await sleep(LOOK_AGAIN_MS, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      entries = await look(new Set(entries.map(entry => JSON.stringify(entry))));
    }
  } finally {
    for (const name of ['SIGINT', 'SIGTERM'] as const) io.signals.off(name, stop);
  }
}

function lineOf(entry: Entry): string {
  const { timestamp, level, loggerName, message, agentId, conversationId, userId, details } = entry;
  const about = [agentId, conversationId, userId].filter(id => id !== undefined).join(' ');
  const words = [
    new Date(timestamp).toISOString(),
    level.padEnd(5),
    loggerName.padEnd(11),
    message,
    about && `[${about}]`,
    details && JSON.stringify(details),
  ];
  return printable(words.filter(Boolean).join('  '));
}

function parseLevel(text: string): (typeof SHOWN_LOG_LEVELS)[number] {
  const level = SHOWN_LOG_LEVELS.find(known => known === text.toUpperCase());
  if (!level) throw new InvalidArgumentError(`Choose from ${SHOWN_LOG_LEVELS.join(', ')}.`);
  return level;
}

function parseLimit(text: string): number {
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > 1000) throw new InvalidArgumentError('Give a whole number from 1 to 1000.');
  return limit;
}
