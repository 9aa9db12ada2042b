import { diff as diffLines } from 'node:util';
import type { ExportedAgent, ExportedDocument } from '@patchbay/contract/operations/exports';
import type { Command } from 'commander';
import { type NamedAgent, namedAgent, versionNumber } from '../agent-place.ts';
import { CliError, EXIT } from '../cli-error.ts';
import { connect } from '../connection.ts';
import type { Io } from '../io.ts';
import { objectText } from '../object-file.ts';
import { addSharedOptions, type SharedOptions, sharedOptions } from '../shared-options.ts';
import { printable, writeJson, writeLine } from '../text.ts';

interface DiffOptions extends SharedOptions {
  readonly exitCode?: boolean;
}

interface Change {
  readonly type: string;
  readonly id: string;
  readonly from?: number;
  readonly to?: number;
  /** Lines of the body as YAML with what leads them: `-`, `+` or a blank. */
  readonly lines: readonly string[];
}

const CONTEXT = 3;

/** Below `agents`. */
export function addDiff(agents: Command, io: Io): void {
  addSharedOptions(agents.command('diff'))
    .description('show what changed between two versions of an agent, in everything it is made of')
    .argument('<id>', 'id of the agent', namedAgent)
    .argument('[from]', 'a version; default: the one before the other', versionNumber)
    .argument('[to]', 'a version; default: the latest', versionNumber)
    .option('--exit-code', 'exit with 1 where something changed')
    .addHelpText(
      'after',
      `
Examples:
  npx patchbay agents diff demo          what the latest version changed
  npx patchbay agents diff demo 3 7`,
    )
    .action(
      async (
        { agentId }: NamedAgent,
        from: number | undefined,
        to: number | undefined,
        _: unknown,
        command: Command,
      ) => diff(io, { agentId, from, to }, sharedOptions(command) as DiffOptions),
    );
}

async function diff(
  io: Io,
  { agentId, from, to }: { agentId: string; from: number | undefined; to: number | undefined },
  options: DiffOptions,
): Promise<void> {
  const { client } = await connect(io, options);
  const newer = await client.call('export_agent', { agentId, version: to });
  if (from === undefined && newer.version === 1) {
    throw new CliError(EXIT.failed, `${agentId} has one version only.`);
  }
  const older = await client.call('export_agent', { agentId, version: from ?? newer.version - 1 });
  const changes = changesBetween(older, newer);
  if (options.json) writeJson(io.stdout, { agentId, from: older.version, to: newer.version, changes });
  else {
    for (const { type, id, from: old, to: now, lines } of changes) {
      const name = (version: number | undefined) => (version === undefined ? 'none' : `version ${version}`);
      writeLine(io.stdout, `${type} ${id}: ${name(old)} -> ${name(now)}`);
      for (const line of lines) writeLine(io.stdout, printable(`  ${line}`));
    }
    if (changes.length === 0) {
      writeLine(io.stdout, `Versions ${older.version} and ${newer.version} of ${agentId} are the same.`);
    }
  }
  if (options.exitCode && changes.length > 0) throw new CliError(EXIT.failed, `${agentId} changed.`);
}

/** Documents that are in both under other version numbers and hold the same are no change. */
function changesBetween(older: ExportedAgent, newer: ExportedAgent): Change[] {
  const nameOf = ({ type, id }: ExportedDocument) => `${type} ${id}`;
  const before = Map.groupBy(older.documents, nameOf);
  const after = Map.groupBy(newer.documents, nameOf);
  return [...new Set([...after.keys(), ...before.keys()])].flatMap(name => {
    const olds = before.get(name) ?? [];
    const news = after.get(name) ?? [];
    // One for one; of a document that is used in several versions the rest is new or gone.
    return Array.from({ length: Math.max(olds.length, news.length) }, (_, index) =>
      changeOf(olds[index], news[index]),
    ).filter(({ lines }) => lines.length > 0);
  });
}

function changeOf(from: ExportedDocument | undefined, to: ExportedDocument | undefined): Change {
  const { type, id } = (to ?? from)!;
  const text = (document: ExportedDocument | undefined) =>
    document ? objectText('body.yaml', document.body).trimEnd().split('\n') : [];
  return {
    ...{ type, id, lines: changedLines(text(from), text(to)) },
    ...(from && { from: from.version }),
    ...(to && { to: to.version }),
  };
}

/** The lines that differ with some around them; `...` where others are left out. */
function changedLines(from: readonly string[], to: readonly string[]): string[] {
  const entries = diffLines(from, to).map(([operation, value]) => ({
    isChange: operation !== 0,
    // The one of `from` comes with -1 where it is gone.
    line: `${operation === 0 ? ' ' : operation < 0 ? '+' : '-'} ${value}`,
  }));
  const shown: string[] = [];
  let skipped = false;
  for (const [index, { line }] of entries.entries()) {
    const isNear = entries.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some(one => one.isChange);
    if (isNear) {
      if (skipped && shown.length > 0) shown.push('...');
      shown.push(line);
    }
    skipped = !isNear;
  }
  return shown;
}
