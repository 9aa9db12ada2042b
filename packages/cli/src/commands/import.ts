import type { OperationOutput } from '@patchbay/contract/client';
import type { ExportedAgent } from '@patchbay/contract/operations/exports';
import type { Command } from 'commander';
import { CliError, EXIT } from '../cli-error.ts';
import { connect } from '../connection.ts';
import { readExport } from '../export-folder.ts';
import type { Io } from '../io.ts';
import { addSharedOptions, type SharedOptions, sharedOptions } from '../shared-options.ts';
import { writeJson, writeLine } from '../text.ts';

interface ImportOptions extends SharedOptions {
  readonly next?: boolean;
  readonly variables?: boolean;
  readonly deploy?: boolean;
}

type Client = Awaited<ReturnType<typeof connect>>['client'];
type Imported = OperationOutput<'import_agent'>;

export function addImport(program: Command, io: Io): void {
  addSharedOptions(program.command('import'))
    .description('bring in an agent that `export` wrote')
    .argument('<place>', 'its file or folder; - reads it from standard input')
    .option('--next', 'save what is another here as the next versions, whatever their numbers in the file')
    .option('--variables', 'also set the variables whose values are in it and that are not here yet')
    .option('--deploy', 'deploy it afterwards')
    .addHelpText(
      'after',
      `
Ids and version numbers stay as they are; the same export again changes nothing. Where an id and version hold something else
here nothing is saved: --next saves the agent as the next versions of what is here.

Examples:
  npx patchbay import demo.export.yaml
  npx patchbay import demo-export --next --deploy`,
    )
    .action(async (place: string, _: unknown, command: Command) =>
      importOne(io, place, sharedOptions(command) as ImportOptions),
    );
}

async function importOne(io: Io, place: string, options: ImportOptions): Promise<void> {
  // The platform checks it, and says best what is wrong.
  const file = (await readExport(io, place)) as ExportedAgent;
  const { client } = await connect(io, options);
  const imported = await client.call('import_agent', { file, nextVersions: options.next });
  const set = options.variables ? await setVariables(client, file, imported) : [];
  const answer = {
    ...imported,
    missingVariables: imported.missingVariables.filter(name => !set.includes(name)),
  };
  const deployed = options.deploy
    ? await client.call('deploy_agent', { agentId: answer.agentId, version: answer.agentVersion })
    : undefined;
  if (options.json) writeJson(io.stdout, { ...answer, ...(deployed && { deployed: deployed.deployed }) });
  else show(io, answer, { set, deployed: deployed?.deployed === true });
  if (deployed && !deployed.deployed) {
    throw new CliError(
      EXIT.failed,
      `${answer.agentId} was saved and could not be deployed: ${deployed.error}`,
    );
  }
}

/** What is here already stays as it is. */
async function setVariables(client: Client, file: ExportedAgent, imported: Imported): Promise<string[]> {
  const set: string[] = [];
  for (const { name, value, description } of file.variables) {
    if (value === undefined || !imported.missingVariables.includes(name)) continue;
    await client.call('put_variable', { name, value, description });
    set.push(name);
  }
  return set;
}

function show(
  io: Io,
  { agentId, agentVersion, documents, missingSecrets, missingVariables }: Imported,
  { set, deployed }: { set: readonly string[]; deployed: boolean },
): void {
  const changed = documents.filter(document => document.changed);
  writeLine(io.stdout, `${agentId} version ${agentVersion}: ${deployed ? 'READY' : 'saved'}`);
  for (const { resource } of changed) writeLine(io.stdout, `  saved ${resource}`);
  if (changed.length === 0) writeLine(io.stdout, '  nothing changed');
  for (const name of set) writeLine(io.stdout, `  set the variable ${name}`);
  for (const name of missingSecrets)
    writeLine(io.stdout, `  the secret ${name} is not here: npx patchbay secrets set ${name}`);
  for (const name of missingVariables)
    writeLine(io.stdout, `  the variable ${name} is not here: npx patchbay vars set ${name}`);
  if (deployed) writeLine(io.stdout, `  talk to it: npx patchbay chat ${agentId}`);
  else
    writeLine(
      io.stdout,
      `  deploy it: npx patchbay agents deploy ${agentId} --agent-version ${agentVersion}`,
    );
}
