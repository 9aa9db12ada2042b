import { ENVIRONMENTS, type Environment } from '@patchbay/contract/environments';
import { type Command, Option } from 'commander';
import { isAgentFile, namedAgent, versionNumber } from '../agent-place.ts';
import { CliError, EXIT, usageError } from '../cli-error.ts';
import { connect } from '../connection.ts';
import type { Io } from '../io.ts';
import { readObjectFile } from '../object-file.ts';
import { addSharedOptions, type SharedOptions, sharedOptions } from '../shared-options.ts';
import { writeJson, writeLine } from '../text.ts';

interface DeployOptions extends SharedOptions {
  readonly agentVersion?: number;
  readonly environment?: Environment;
}

/** `--environment`, for commands that are about one. */
export function environmentOption(): Option {
  return new Option('--environment <name>', 'where; default: production').choices(ENVIRONMENTS);
}

/** Below `agents`. */
export function addDeploy(agents: Command, io: Io): void {
  addSharedOptions(agents.command('deploy'))
    .description('save an agent file as new versions and deploy the agent, or deploy a version that is saved')
    .argument(
      '<file-or-id>',
      'YAML or JSON, - reads it from standard input; or the id of a saved agent, or a reference to it',
    )
    .option('--agent-version <number>', 'of a saved agent: this version; default: the latest', versionNumber)
    .addOption(environmentOption())
    .addHelpText(
      'after',
      `
A file goes to production. A version of a saved agent runs beside those that run already; new conversations get the latest one.

Examples:
  npx patchbay agents deploy my-agent.yaml
  npx patchbay agents deploy - < my-agent.json
  npx patchbay agents deploy demo --environment test`,
    )
    .action(async (name: string, _: unknown, command: Command) => {
      const options = sharedOptions(command) as DeployOptions;
      return (await isAgentFile(io, name)) ? deployFile(io, name, options) : deploySaved(io, name, options);
    });
}

async function deployFile(io: Io, name: string, options: DeployOptions): Promise<void> {
  if (options.agentVersion !== undefined || options.environment !== undefined) {
    throw usageError(
      '--agent-version and --environment are for saved agents; a file is deployed to production.',
    );
  }
  const file = await readObjectFile(io, name, 'agent file');
  const { client, baseUrl } = await connect(io, options);
  const answer = await client.call('deploy_agent_file', { file });
  const { agentId, agentVersion, status, documents } = answer;
  if (options.json) writeJson(io.stdout, answer);
  else {
    const changed = documents.filter(document => document.changed).map(document => document.resource);
    writeLine(io.stdout, `${agentId} version ${agentVersion}: ${status}`);
    for (const resource of changed) writeLine(io.stdout, `  saved ${resource}`);
    if (changed.length === 0) writeLine(io.stdout, '  nothing changed');
    writeLine(io.stdout, `  talk to it: npx patchbay chat ${agentId}`);
    if (answer.mcpEnabled) writeLine(io.stdout, `  MCP address: ${baseUrl}/${agentId}/mcp`);
  }
  if (status === 'ERROR') {
    throw new CliError(
      EXIT.failed,
      `${agentId} was saved but could not be deployed; the server log says why.`,
    );
  }
}

async function deploySaved(io: Io, name: string, options: DeployOptions): Promise<void> {
  const { agentId, version: named = 0 } = namedAgent(name);
  const { client } = await connect(io, options);
  const { agentVersion: version = named, environment } = options;
  const answer = await client.call('deploy_agent', { agentId, version, environment });
  if (options.json) writeJson(io.stdout, answer);
  else if (answer.deployed) {
    writeLine(io.stdout, `${agentId} version ${answer.version}: READY in ${answer.environment}`);
  }
  if (!answer.deployed) {
    throw new CliError(EXIT.failed, `${agentId} version ${answer.version} was not deployed: ${answer.error}`);
  }
}
