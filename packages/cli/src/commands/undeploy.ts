import type { Environment } from '@patchbay/contract/environments';
import type { Command } from 'commander';
import { type NamedAgent, namedAgent, versionNumber } from '../agent-place.ts';
import { CliError, EXIT } from '../cli-error.ts';
import { connect } from '../connection.ts';
import type { Io } from '../io.ts';
import { addSharedOptions, type SharedOptions, sharedOptions } from '../shared-options.ts';
import { writeJson, writeLine } from '../text.ts';
import { environmentOption } from './deploy.ts';

interface UndeployOptions extends SharedOptions {
  readonly agentVersion?: number;
  readonly environment?: Environment;
  readonly endConversations?: boolean;
}

/** Below `agents`. */
export function addUndeploy(agents: Command, io: Io): void {
  addSharedOptions(agents.command('undeploy'))
    .description('take an agent, or one version of it, out of an environment')
    .argument('<id>', 'id of the agent, or a reference to a version of it', namedAgent)
    .option(
      '--agent-version <number>',
      'only this version; default: every one that runs there',
      versionNumber,
    )
    .addOption(environmentOption())
    .option('--end-conversations', 'also where conversations run with it; they end')
    .addHelpText(
      'after',
      `
Exit code 1: conversations still run with a version, which stays.

Examples:
  npx patchbay agents undeploy demo --environment test
  npx patchbay agents undeploy demo --agent-version 3 --end-conversations`,
    )
    .action(async (named: NamedAgent, _: unknown, command: Command) =>
      undeploy(io, named, sharedOptions(command) as UndeployOptions),
    );
}

async function undeploy(
  io: Io,
  { agentId, version: named }: NamedAgent,
  options: UndeployOptions,
): Promise<void> {
  const { client } = await connect(io, options);
  const { environment = 'production', endConversations } = options;
  const running = async () =>
    (await client.call('list_agents', { environment })).agents
      .filter(agent => agent.agentId === agentId)
      .map(agent => agent.agentVersion);
  const only = options.agentVersion ?? named;
  const versions = only === undefined ? await running() : [only];
  if (versions.length === 0) throw new CliError(EXIT.failed, `${agentId} does not run in ${environment}.`);
  const answers = [];
  for (const version of versions) {
    answers.push(await client.call('undeploy_agent', { agentId, version, environment, endConversations }));
  }
  const left = answers.filter(({ action }) => action === 'undeploy_refused').map(({ version }) => version);
  if (options.json) writeJson(io.stdout, { agentId, environment, undeployed: answers });
  else {
    for (const { version, action } of answers) {
      if (action === 'undeployed') writeLine(io.stdout, `${agentId} version ${version} left ${environment}.`);
    }
  }
  if (left.length > 0) {
    throw new CliError(
      EXIT.failed,
      `Conversations run with version ${left.join(', ')} of ${agentId}; wait for their end, or end them with --end-conversations.`,
    );
  }
}
