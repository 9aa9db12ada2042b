// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import type { Command } from 'commander';
import { askValue } from '../ask.ts';
import { connect } from '../connection.ts';
import type { Io } from '../io.ts';
import { addSharedOptions, type SharedOptions, sharedOptions } from '../shared-options.ts';
import { table, writeJson, writeLine } from '../text.ts';

interface SetOptions extends SharedOptions {
  readonly value?: string;
  readonly description?: string;
  /** `--exportable` and `--no-exportable`; neither leaves it as it is. */
  readonly exportable?: boolean;
}

const PAGE = 100;

export function addVars(program: Command, io: Io): void {
  const vars = program
    .command('vars')
    .description('set, list and remove variables, which configuration refers to')
    .addHelpText(
      'after',
      `
Examples:
  npx patchbay vars set crm-url --value https://crm.example.com
  npx patchbay vars list
  npx patchbay vars remove crm-url`,
    );

  addSharedOptions(vars.command('set'))
    .description('set a variable; without --value its value comes from a prompt or standard input')
    .argument('<name>', 'its name, as ${vars:name} refers to it')
    .option('--value <text>', 'the value; no secret')
    .option('--description <text>', 'what it is for')
    .option('--exportable', 'goes along when agents are exported (as it does unless said otherwise)')
    .option('--no-exportable', 'stays here when agents are exported')
    .addHelpText('after', '\nExample:\n  npx patchbay vars set crm-url --value https://crm.example.com')
    .action(async (name: string, _: unknown, command: Command) =>
      set(io, name, sharedOptions(command) as SetOptions),
    );

  addSharedOptions(vars.command('list'))
    .description('list the variables with their values')
    .addHelpText('after', '\nExample:\n  npx patchbay vars list')
    .action(async (_: unknown, command: Command) => list(io, sharedOptions(command)));

  addSharedOptions(vars.command('remove'))
    .description('delete a variable')
    .argument('<name>', 'its name')
    .addHelpText('after', '\nExample:\n  npx patchbay vars remove crm-url')
    .action(async (name: string, _: unknown, command: Command) => {
      const options = sharedOptions(command);
      const { client } = await connect(io, options);
      const answer = await client.call('delete_variable', { name });
      if (options.json) writeJson(io.stdout, answer);
      else writeLine(io.stdout, `Removed ${answer.name}.`);
    });
}

async function set(io: Io, name: string, options: SetOptions): Promise<void> {
  const { description, exportable } = options;
  const { client } = await connect(io, options);
  const value = options.value ?? (await askValue(io, `Value of ${name}: `, { hidden: false }));
  const answer = await client.call('put_variable', { name, value, description, exportable });
  if (options.json) return writeJson(io.stdout, answer);
  writeLine(
    io.stdout,
    `${answer.created ? 'Set' : 'Changed'} ${answer.name}. Configuration refers to it as \${vars:${answer.name}}.`,
  );
}

async function list(io: Io, options: SharedOptions): Promise<void> {
  const { client } = await connect(io, options);
  const variables = [];
  for (let after: string | undefined; ; ) {
    const page = await client.call('list_variables', { after, limit: PAGE });
    variables.push(...page.variables);
    if (page.count < PAGE) break;
    after = page.variables.at(-1)!.name;
  }
  if (options.json) return writeJson(io.stdout, { count: variables.length, variables });
  if (variables.length === 0)
    return writeLine(io.stderr, 'No variables. Set one with: npx patchbay vars set NAME --value TEXT');
  const rows = variables.map(({ name, value, exportable, description }) => [
    name,
    value,
    exportable ? 'yes' : 'no',
    description,
  ]);
  writeLine(io.stdout, table([['NAME', 'VALUE', 'EXPORTED', 'DESCRIPTION'], ...rows]));
}
