import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { ExportedAgent, ExportedDocument } from '@patchbay/contract/operations/exports';
import type { Command } from 'commander';
import { type NamedAgent, namedAgent, versionNumber } from '../agent-place.ts';
import { CliError, EXIT, usageError } from '../cli-error.ts';
import { connect } from '../connection.ts';
import { documentFile, MANIFEST } from '../export-folder.ts';
import type { Io } from '../io.ts';
import { objectText } from '../object-file.ts';
import { addSharedOptions, type SharedOptions, sharedOptions } from '../shared-options.ts';
import { shellWord, writeLine } from '../text.ts';

interface ExportOptions extends SharedOptions {
  readonly file?: string;
  readonly folder?: string;
  readonly agentVersion?: number;
  readonly variables?: boolean;
}

export function addExport(program: Command, io: Io): void {
  addSharedOptions(program.command('export'))
    .description('write an agent with everything it is made of, for another platform')
    .argument('<id>', 'id of the agent, or a reference to a version of it', namedAgent)
    .option(
      '--file <name>',
      'write it there, as JSON where the name ends with .json, else as YAML; default: stdout',
    )
    .option('--folder <name>', 'write it there, each document as a file of its own')
    .option('--agent-version <number>', 'this version of the agent; default: the latest', versionNumber)
    .option('--variables', 'also the values of the variables it refers to, where they are marked exportable')
    .addHelpText(
      'after',
      `
Secrets are never in it, only their names. The same agent gives the same bytes.

Examples:
  npx patchbay export demo --file demo.export.yaml
  npx patchbay export demo --folder demo-export       for a large agent, or one whose changes are reviewed
  npx patchbay export demo --json | ssh other npx patchbay import -`,
    )
    .action(async (named: NamedAgent, _: unknown, command: Command) =>
      exportOne(io, named, sharedOptions(command) as ExportOptions),
    );
}

async function exportOne(
  io: Io,
  { agentId, version: named }: NamedAgent,
  options: ExportOptions,
): Promise<void> {
  const { file, folder, agentVersion: version = named, variables: includeVariables } = options;
  if (file !== undefined && folder !== undefined) throw usageError('--file and --folder exclude each other.');
  const { client } = await connect(io, options);
  const exported = await client.call('export_agent', { agentId, version, includeVariables });
  const place = folder ?? file;
  if (place === undefined) {
    io.stdout.write(objectText(options.json ? 'stdout.json' : 'stdout.yaml', exported));
    return;
  }
  const files = folder === undefined ? [[place, exported] as const] : filesOf(folder, exported);
  for (const [name, value] of files) await write(io, name, objectText(name, value));
  const { version: written, documents, secrets } = exported;
  writeLine(io.stderr, `Wrote ${agentId} version ${written}, ${documents.length} documents, to ${place}.`);
  if (secrets.length > 0)
    writeLine(io.stderr, `It refers to secrets, which stay here: ${secrets.join(', ')}.`);
  writeLine(io.stderr, `Bring it in elsewhere with: npx patchbay import ${shellWord(place)}`);
}

/** The export without the bodies, and each body by itself. */
function filesOf(folder: string, exported: ExportedAgent): (readonly [string, unknown])[] {
  const withoutBody = ({ body: _, ...document }: ExportedDocument) => document;
  return [
    [join(folder, MANIFEST), { ...exported, documents: exported.documents.map(withoutBody) }],
    ...exported.documents.map(document => [join(folder, documentFile(document)), document.body] as const),
  ];
}

async function write(io: Io, name: string, text: string): Promise<void> {
  const path = resolve(io.cwd, name);
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  } catch (cause) {
    throw new CliError(EXIT.failed, `${name} cannot be written: ${(cause as Error).message}`, { cause });
  }
}
