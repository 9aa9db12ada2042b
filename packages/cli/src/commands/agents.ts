import type { Client } from '@patchbay/contract/client';
import type { Command } from 'commander';
import { type NamedAgent, namedAgent } from '../agent-place.ts';
import { connect } from '../connection.ts';
import type { Io } from '../io.ts';
import { addSharedOptions, type SharedOptions, sharedOptions } from '../shared-options.ts';
import { table, writeJson, writeLine } from '../text.ts';
import { addDeploy } from './deploy.ts';
import { addDiff } from './diff.ts';
import { addLint } from './lint.ts';
import { addNew } from './new.ts';
import { addShare } from './share.ts';
import { addUndeploy } from './undeploy.ts';
import { addVersions } from './versions.ts';

export function addAgents(program: Command, io: Io): void {
  const agents = program
    .command('agents')
    .description('make, list, show, lint, deploy, share and compare agents')
    .addHelpText(
      'after',
      `
Examples:
  npx patchbay agents new                     writes the file of a new agent, and asks what it is to do
  npx patchbay agents list
  npx patchbay agents show demo
  npx patchbay agents deploy my-agent.yaml    one file with rules and outputs; the same file again changes nothing
  npx patchbay agents lint my-agent.yaml      what in it can never do anything
  npx patchbay agents diff demo               what the latest version changed
  npx patchbay agents share demo --with everyone    whoever is signed in may talk to it
  npx patchbay agents undeploy demo           it answers nobody any more`,
    );

  addSharedOptions(agents.command('list'))
    .description('list the agents you can talk to')
    .addHelpText('after', '\nExample:\n  npx patchbay agents list')
    .action(async (_: unknown, command: Command) => list(io, sharedOptions(command)));

  addSharedOptions(agents.command('show'))
    .description("show an agent's configuration, as JSON")
    .argument('<id>', 'id of the agent, or a reference to a version of it', namedAgent)
    .addHelpText('after', '\nExample:\n  npx patchbay agents show demo')
    .action(async ({ agentId, version }: NamedAgent, _: unknown, command: Command) => {
      const { client } = await connect(io, sharedOptions(command));
      writeJson(io.stdout, await client.call('get_agent', { agentId, version }));
    });

  addNew(agents, io);
  addDeploy(agents, io);
  addUndeploy(agents, io);
  addShare(agents, io);
  addVersions(agents, io);
  addDiff(agents, io);
  addLint(agents, io);
}

async function list(io: Io, options: SharedOptions): Promise<void> {
  const { client, baseUrl } = await connect(io, options);
  const answer = await client.call('discover_agents', {});
  if (options.json) return writeJson(io.stdout, answer);
  if (answer.agents.length === 0) {
    return writeLine(io.stderr, 'No agents. Deploy one with: npx patchbay agents deploy FILE');
  }
  const closed = await closedAgents(client);
  const rows = answer.agents.map(agent => [
    agent.agentId,
    String(agent.version),
    agent.status,
    closed.has(agent.agentId) ? 'off' : `${baseUrl}/${agent.agentId}/mcp`,
    agent.description || agent.name,
  ]);
  writeLine(io.stdout, table([['ID', 'VERSION', 'STATUS', 'MCP', 'DESCRIPTION'], ...rows]));
}

const PAGE = 500;

/** Those that MCP clients cannot reach, as far as whoever asks may know. */
async function closedAgents(client: Client): Promise<ReadonlySet<string>> {
  const closed = new Set<string>();
  for (let after: string | undefined; ; ) {
    const { agents, count } = await client.call('list_own_agents', { after, limit: PAGE });
    for (const { id, mcp_enabled } of agents) if (!mcp_enabled) closed.add(id);
    if (count < PAGE) return closed;
    after = agents.at(-1)!.id;
  }
}
