import type { Command } from 'commander';
import { connect } from '../connection.ts';
import type { Io } from '../io.ts';
import { addSharedOptions, sharedOptions } from '../shared-options.ts';
import { writeJson, writeLine } from '../text.ts';

export function addSignIn(program: Command, io: Io): void {
  addSharedOptions(program.command('sign-in'))
    .description('print an address that signs you in in a browser, once and within ten minutes')
    .addHelpText(
      'after',
      `
Signs in as the owner of the platform of this machine. Other people sign in with their password; \`users reset\` gives them a new one.

Example:
  npx patchbay sign-in`,
    )
    .action(async (_: unknown, command: Command) => {
      const options = sharedOptions(command);
      const { client } = await connect(io, options);
      const answer = await client.call('create_sign_in_link', {});
      if (options.json) writeJson(io.stdout, answer);
      else writeLine(io.stdout, answer.link);
    });
}
