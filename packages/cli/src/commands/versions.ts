import { ENVIRONMENTS } from '@patchbay/contract/environments';
import type { Command } from 'commander';
import { type NamedAgent, namedAgent } from '../agent-place.ts';
import { connect } from '../connection.ts';
import type { Io } from '../io.ts';
import { addSharedOptions, sharedOptions } from '../shared-options.ts';
import { table, writeJson, writeLine } from '../text.ts';

/** Below `agents`. */
export function addVersions(agents: Command, io: Io): void {
  addSharedOptions(agents.command('versions'))
    .description('show the latest version of an agent, and which ones run where')
    .argument('<id>', 'id of the agent', namedAgent)
    .addHelpText('after', '\nExample:\n  npx patchbay agents versions demo')
    .action(async ({ agentId }: NamedAgent, _: unknown, command: Command) => {
      const options = sharedOptions(command);
      const { client } = await connect(io, options);
      const { version: latest } = await client.call('get_agent', { agentId });
      const running: { environment: string; version: number; status: string }[] = [];
      for (const environment of ENVIRONMENTS) {
        const { agents: deployed } = await client.call('list_agents', { environment });
        for (const { agentVersion: version, status } of deployed.filter(one => one.agentId === agentId)) {
          running.push({ environment, version, status });
        }
      }
      if (options.json) return writeJson(io.stdout, { agentId, latest, running });
      const numbers = new Set([latest, ...running.map(({ version }) => version)]);
      const rows = [...numbers]
        .toSorted((a, b) => b - a)
        .map(version => [
          version === latest ? `${version} (latest)` : String(version),
          ...ENVIRONMENTS.map(
            environment =>
              running.find(one => one.version === version && one.environment === environment)?.status ?? '-',
          ),
        ]);
      writeLine(io.stdout, table([['VERSION', ...ENVIRONMENTS.map(name => name.toUpperCase())], ...rows]));
    });
}
