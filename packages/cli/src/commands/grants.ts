import type { Command } from 'commander';
import { connect } from '../connection.ts';
import type { Io } from '../io.ts';
import { addSharedOptions, type SharedOptions, sharedOptions } from '../shared-options.ts';
import { day, printable, table, writeJson, writeLine } from '../text.ts';

export function addGrants(program: Command, io: Io): void {
  const grants = program
    .command('grants')
    .description('list what you have allowed MCP clients, and take it back')
    .addHelpText(
      'after',
      `
Examples:
  npx patchbay grants list
  npx patchbay grants revoke grant_abc`,
    );

  addSharedOptions(grants.command('list'))
    .description('list the MCP clients that act as you')
    .addHelpText('after', '\nExample:\n  npx patchbay grants list')
    .action(async (_: unknown, command: Command) => list(io, sharedOptions(command)));

  addSharedOptions(grants.command('revoke'))
    .description('disconnect a client at once, with all that it has open')
    .argument('<id>', 'id of the entry, as grants list shows it')
    .addHelpText('after', '\nExample:\n  npx patchbay grants revoke grant_abc')
    .action(async (id: string, _: unknown, command: Command) => {
      const options = sharedOptions(command);
      const { client } = await connect(io, options);
      const answer = await client.call('revoke_grant', { grantId: id });
      if (options.json) writeJson(io.stdout, answer);
      else writeLine(io.stdout, `Disconnected ${answer.id}.`);
    });
}

async function list(io: Io, options: SharedOptions): Promise<void> {
  const { client } = await connect(io, options);
  const answer = await client.call('list_grants', {});
  if (options.json) return writeJson(io.stdout, answer);
  if (answer.count === 0) return writeLine(io.stderr, 'You have allowed no MCP client anything.');
  const rows = answer.grants.map(({ id, clientName, door, agentIds, scope, createdOn, expiresOn }) => [
    id,
    printable(clientName),
    door === 'operator' ? scope : (agentIds ?? []).join(','),
    day(createdOn),
    day(expiresOn),
  ]);
  writeLine(io.stdout, table([['ID', 'CLIENT', 'MAY USE', 'ALLOWED', 'ENDS'], ...rows]));
}
