import type { Command } from 'commander';
import { CliError, EXIT } from '../cli-error.ts';
import { connect } from '../connection.ts';
import type { Io } from '../io.ts';
import { readObjectFile } from '../object-file.ts';
import { addSharedOptions, type SharedOptions, sharedOptions } from '../shared-options.ts';
import { table, writeJson, writeLine } from '../text.ts';
import { addLint } from './lint.ts';

export function addAgents(program: Command, io: Io): void {
  const agents = program
    .command('agents')
    .description('list, show, lint and deploy agents')
    .addHelpText(
      'after',
      `
Examples:
  npx patchbay agents list
  npx patchbay agents show demo
  npx patchbay agents deploy my-agent.yaml    one file with rules and outputs; the same file again changes nothing
  npx patchbay agents lint my-agent.yaml      what in it can never do anything
  npx patchbay agents deploy - < my-agent.json`,
    );

  addSharedOptions(agents.command('list'))
    .description('list the agents you can talk to')
    .addHelpText('after', '\nExample:\n  npx patchbay agents list')
    .action(async (_: unknown, command: Command) => list(io, sharedOptions(command)));

  addSharedOptions(agents.command('show'))
    .description("show an agent's configuration, as JSON")
    .argument('<id>', 'id of the agent')
    .addHelpText('after', '\nExample:\n  npx patchbay agents show demo')
    .action(async (agentId: string, _: unknown, command: Command) => {
      const { client } = await connect(io, sharedOptions(command));
      writeJson(io.stdout, await client.call('get_agent', { agentId }));
    });

  addSharedOptions(agents.command('deploy'))
    .description('save an agent file as new versions and deploy the agent')
    .argument('<file>', 'YAML or JSON; - reads it from standard input')
    .addHelpText(
      'after',
      `
Examples:
  npx patchbay agents deploy my-agent.yaml
  npx patchbay agents deploy - < my-agent.json`,
    )
    .action(async (file: string, _: unknown, command: Command) => deploy(io, file, sharedOptions(command)));

  addLint(agents, io);
}

async function list(io: Io, options: SharedOptions): Promise<void> {
  const { client, baseUrl } = await connect(io, options);
  const answer = await client.call('discover_agents', {});
  if (options.json) return writeJson(io.stdout, answer);
  if (answer.agents.length === 0) {
    return writeLine(io.stderr, 'No agents. Deploy one with: npx patchbay agents deploy FILE');
  }
  const rows = answer.agents.map(agent => [
    agent.agentId,
    String(agent.version),
    agent.status,
    `${baseUrl}/${agent.agentId}/mcp`,
    agent.description || agent.name,
  ]);
  writeLine(io.stdout, table([['ID', 'VERSION', 'STATUS', 'MCP', 'DESCRIPTION'], ...rows]));
}

async function deploy(io: Io, name: string, options: SharedOptions): Promise<void> {
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
