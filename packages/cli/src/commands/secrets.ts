// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { askValue } from '../ask.ts';
import { CliError, EXIT, usageError } from '../cli-error.ts';
import { connect } from '../connection.ts';
import type { Io } from '../io.ts';
import { addSharedOptions, type SharedOptions, sharedOptions } from '../shared-options.ts';
import { day, table, writeJson, writeLine } from '../text.ts';

interface SetOptions extends SharedOptions {
  readonly value?: string;
  readonly keepValue?: boolean;
  readonly description?: string;
  readonly agents?: string;
}

const PAGE = 100;

export function addSecrets(program: Command, io: Io): void {
  const secrets = program
    .command('secrets')
    .description('store, list and remove secrets; none is ever shown')
    .addHelpText(
      'after',
      `
Examples:
  npx patchbay secrets set crm-key                          asks for the value, which is not shown
  npx patchbay secrets set crm-key < key.txt                reads it from standard input
  npx patchbay secrets set crm-key --keep-value --agents clerk,cashier
  npx patchbay secrets list
  npx patchbay secrets remove crm-key
  npx patchbay secrets rotate                               encrypt all of them with a new data key
  npx patchbay secrets new-key                              a key for PATCHBAY_VAULT_KEY`,
    );

  addSharedOptions(secrets.command('set'))
    .description('store a secret, or change it; its value comes from a hidden prompt or standard input')
    .argument('<name>', 'its name, as ${vault:name} refers to it')
    .option('--description <text>', 'what it is for')
    .option('--agents <ids>', 'the only agents that may use it, separated by commas; all for every agent')
    .option('--keep-value', 'change the rest and leave the value')
    .option(
      '--value <text>',
      'the value; stays in the history of the shell and shows in the list of processes',
    )
    .addHelpText(
      'after',
      `
Examples:
  npx patchbay secrets set crm-key --description 'Key of the CRM'
  npx patchbay secrets set crm-key --agents clerk < key.txt`,
    )
    .action(async (name: string, _: unknown, command: Command) =>
      set(io, name, sharedOptions(command) as SetOptions),
    );

  addSharedOptions(secrets.command('list'))
    .description('list the secrets, without their values')
    .addHelpText('after', '\nExample:\n  npx patchbay secrets list')
    .action(async (_: unknown, command: Command) => list(io, sharedOptions(command)));

  addSharedOptions(secrets.command('remove'))
    .description('delete a secret for good')
    .argument('<name>', 'its name')
    .addHelpText('after', '\nExample:\n  npx patchbay secrets remove crm-key')
    .action(async (name: string, _: unknown, command: Command) => {
      const options = sharedOptions(command);
      const { client } = await connect(io, options);
      const answer = await client.call('delete_secret', { name });
      if (options.json) writeJson(io.stdout, answer);
      else writeLine(io.stdout, `Removed ${answer.name}.`);
    });

  addSharedOptions(secrets.command('rotate'))
    .description('encrypt every secret with a new data key')
    .addHelpText('after', '\nExample:\n  npx patchbay secrets rotate')
    .action(async (_: unknown, command: Command) => rotate(io, sharedOptions(command)));

  secrets
    .command('new-key')
    .description('print a new key for PATCHBAY_VAULT_KEY')
    .addHelpText('after', '\nExample:\n  PATCHBAY_VAULT_KEY=$(npx patchbay secrets new-key)')
    .action(() => writeLine(io.stdout, randomBytes(32).toString('base64')));
}

async function set(io: Io, name: string, options: SetOptions): Promise<void> {
  const { value: given, keepValue, description, agents } = options;
  if (given !== undefined && keepValue) throw usageError('--value and --keep-value exclude each other.');
  if (given !== undefined) {
    writeLine(
      io.stderr,
      'The value now stands in the history of your shell; next time leave --value out and type it at the prompt.',
    );
  }
  const { client } = await connect(io, options);
  const value = keepValue
    ? undefined
    : (given ?? (await askValue(io, `Value of ${name} (not shown): `, { hidden: true })));
  const allowedAgents =
    agents === undefined || agents === 'all'
      ? agents && []
      : agents.split(',').flatMap(id => id.trim() || []);
  const answer = await client.call('put_secret', {
    name,
    value,
    description,
    ...(allowedAgents !== undefined && { allowedAgents: [...allowedAgents] }),
  });
  if (options.json) return writeJson(io.stdout, answer);
  const who = answer.allowedAgents.length === 0 ? 'every agent' : answer.allowedAgents.join(', ');
  writeLine(
    io.stdout,
    `${answer.created ? 'Stored' : 'Changed'} ${answer.name}, for ${who}. Configuration refers to it as \${vault:${answer.name}}.`,
  );
}

async function list(io: Io, options: SharedOptions): Promise<void> {
  const { client } = await connect(io, options);
  const secrets = [];
  for (let after: string | undefined; ; ) {
    const page = await client.call('list_secrets', { after, limit: PAGE });
    secrets.push(...page.secrets);
    if (page.count < PAGE) break;
    after = page.secrets.at(-1)!.name;
  }
  if (options.json) return writeJson(io.stdout, { count: secrets.length, secrets });
  if (secrets.length === 0)
    return writeLine(io.stderr, 'No secrets. Store one with: npx patchbay secrets set NAME');
  const rows = secrets.map(secret => [
    secret.name,
    secret.allowedAgents.length === 0 ? 'all' : secret.allowedAgents.join(','),
    day(secret.modifiedOn),
    secret.lastAccessedOn === undefined ? 'never' : day(secret.lastAccessedOn),
    secret.description,
  ]);
  writeLine(io.stdout, table([['NAME', 'AGENTS', 'CHANGED', 'USED', 'DESCRIPTION'], ...rows]));
}

async function rotate(io: Io, options: SharedOptions): Promise<void> {
  const { client } = await connect(io, options);
  const answer = await client.call('rotate_secrets', {});
  if (options.json) writeJson(io.stdout, answer);
  else writeLine(io.stdout, `Encrypted ${answer.count} secrets with a new data key.`);
  if (answer.damaged.length > 0) {
    throw new CliError(
      EXIT.failed,
      `These secrets do not open and keep their old key, so store them again: ${answer.damaged.join(', ')}.`,
    );
  }
}
