import type { Command } from 'commander';
import { askValue } from '../ask.ts';
import { connect } from '../connection.ts';
import type { Io } from '../io.ts';
import { addSharedOptions, type SharedOptions, sharedOptions } from '../shared-options.ts';
import { day, printable, table, writeJson, writeLine } from '../text.ts';

export function addCredentials(program: Command, io: Io): void {
  const credentials = program
    .command('credentials')
    .description('give MCP servers credentials of your own, and take them back')
    .addHelpText(
      'after',
      `
Examples:
  npx patchbay credentials list                        which ones servers want of you, and which you have given
  npx patchbay credentials set linear                  asks for it, and does not show it
  npx patchbay credentials set linear < token.txt      reads it from standard input
  npx patchbay credentials remove linear`,
    );

  addSharedOptions(credentials.command('list'))
    .description('list your credentials at MCP servers, without their values')
    .addHelpText('after', '\nExample:\n  npx patchbay credentials list')
    .action(async (_: unknown, command: Command) => list(io, sharedOptions(command)));

  addSharedOptions(credentials.command('set'))
    .description('give a credential of yours; it comes from a hidden prompt or standard input')
    .argument('<name>', 'its name, as credentials list shows it')
    .addHelpText(
      'after',
      `
Examples:
  npx patchbay credentials set linear
  npx patchbay credentials set linear < token.txt`,
    )
    .action(async (name: string, _: unknown, command: Command) => set(io, name, sharedOptions(command)));

  addSharedOptions(credentials.command('remove'))
    .description('take a credential of yours back for good')
    .argument('<name>', 'its name')
    .addHelpText('after', '\nExample:\n  npx patchbay credentials remove linear')
    .action(async (name: string, _: unknown, command: Command) => {
      const options = sharedOptions(command);
      const { client } = await connect(io, options);
      const answer = await client.call('delete_credential', { name });
      if (options.json) writeJson(io.stdout, answer);
      else
        writeLine(
          io.stdout,
          `Removed ${answer.name}. Revoke it at the server, too, if it has a page for that.`,
        );
    });
}

async function list(io: Io, options: SharedOptions): Promise<void> {
  const { client } = await connect(io, options);
  const answer = await client.call('list_credentials', {});
  if (options.json) return writeJson(io.stdout, answer);
  if (answer.count === 0) return writeLine(io.stderr, 'No server wants a credential of yours.');
  const rows = answer.credentials.map(({ name, servers, givenOn, changedOn }) => [
    name,
    servers.length === 0 ? 'none' : servers.map(printable).join(', '),
    givenOn === undefined ? 'no' : day(givenOn),
    changedOn === undefined ? '' : day(changedOn),
  ]);
  writeLine(io.stdout, table([['NAME', 'SERVERS', 'GIVEN', 'CHANGED'], ...rows]));
}

async function set(io: Io, name: string, options: SharedOptions): Promise<void> {
  const { client } = await connect(io, options);
  const token = await askValue(io, `Your credential ${printable(name)} (not shown): `, { hidden: true });
  const answer = await client.call('put_credential', { name, token });
  if (options.json) return writeJson(io.stdout, answer);
  const { servers } = answer;
  const used =
    servers.length === 0
      ? 'No server asks for it now; npx patchbay credentials list shows which are asked for.'
      : `It is used at ${servers.map(printable).join(', ')}, for what you ask of agents.`;
  writeLine(io.stdout, `${answer.created ? 'Stored' : 'Changed'} ${answer.name}. ${used}`);
}
