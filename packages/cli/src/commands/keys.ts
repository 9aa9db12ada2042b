import { KEY_SCOPES, type KeyScope } from '@patchbay/contract/operations/keys';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { usageError } from '../cli-error.ts';
import { connect } from '../connection.ts';
import type { Io } from '../io.ts';
import { addSharedOptions, type SharedOptions, sharedOptions } from '../shared-options.ts';
import { day, printable, table, writeJson, writeLine } from '../text.ts';

interface CreateOptions extends SharedOptions {
  readonly scope?: KeyScope[];
  readonly name?: string;
  readonly expiresInDays?: number;
  readonly agent?: string;
}

export function addKeys(program: Command, io: Io): void {
  const keys = program
    .command('keys')
    .description('make, list and revoke keys')
    .addHelpText(
      'after',
      `
Examples:
  KEY=$(npx patchbay keys create)                            a key for the agents you own
  npx patchbay keys create --scope operator --name laptop    a key for /mcp and the REST surface
  npx patchbay keys create --agent demo                      a key that opens one agent and nothing else
  npx patchbay keys list
  npx patchbay keys revoke key_abc`,
    );

  addSharedOptions(keys.command('create'))
    .description('make a key; it is shown this once')
    .addOption(
      new Option('--scope <scope>', 'what an oag_ key opens; repeat for both (default: agents)')
        .choices(KEY_SCOPES)
        .argParser(collectScope),
    )
    .option('--name <name>', 'what the key is for')
    .option('--expires-in-days <days>', 'days until it expires', parseDays)
    .option('--agent <id>', 'make a bak_ key that opens this agent only')
    .addHelpText(
      'after',
      `
Examples:
  KEY=$(npx patchbay keys create)
  npx patchbay keys create --scope operator --name laptop --expires-in-days 30
  npx patchbay keys create --agent demo`,
    )
    .action(async (_: unknown, command: Command) => create(io, sharedOptions(command) as CreateOptions));

  addSharedOptions(keys.command('list'))
    .description('list your active keys')
    .addHelpText('after', '\nExample:\n  npx patchbay keys list')
    .action(async (_: unknown, command: Command) => list(io, sharedOptions(command)));

  addSharedOptions(keys.command('revoke'))
    .description('end a key at once')
    .argument('<id>', 'id of the key, as keys list shows it')
    .addHelpText('after', '\nExample:\n  npx patchbay keys revoke key_abc')
    .action(async (id: string, _: unknown, command: Command) => revoke(io, id, sharedOptions(command)));
}

async function create(io: Io, options: CreateOptions): Promise<void> {
  const { agent, scope, name, expiresInDays } = options;
  if (agent !== undefined && (scope !== undefined || expiresInDays !== undefined)) {
    throw usageError('--agent makes a key for one agent; it has no --scope and no --expires-in-days.');
  }
  const { client } = await connect(io, options);
  const made =
    agent !== undefined
      ? await client.call('create_agent_key', { agentId: agent, name })
      : await client.call('create_key', {
          name,
          expiresInDays,
          ...(scope ? { scopes: scope } : {}),
        });
  if (options.json) {
    io.stdout.write(`${JSON.stringify({ key: made.key })}\n`);
    return;
  }
  // The key alone goes to stdout, so `KEY=$(npx patchbay keys create)` works.
  writeLine(io.stdout, made.key);
  const opens = made.agentId === undefined ? made.scopes.join(' and ') : `agent ${made.agentId}`;
  const expires = made.expiresOn === undefined ? 'never expires' : `expires ${day(made.expiresOn)}`;
  writeLine(
    io.stderr,
    `Made key ${made.id} (${printable(made.name)}; opens ${opens}; ${expires}). It is not shown again. ` +
      `End it with: npx patchbay keys revoke ${made.id}`,
  );
}

async function list(io: Io, options: SharedOptions): Promise<void> {
  const { client } = await connect(io, options);
  const answer = await client.call('list_keys', {});
  if (options.json) return writeJson(io.stdout, answer);
  if (answer.keys.length === 0)
    return writeLine(io.stderr, 'No keys. Make one with: npx patchbay keys create');
  const rows = answer.keys.map(key => [
    key.id,
    key.name,
    `${key.prefix}...`,
    key.agentId ?? key.scopes.join(','),
    day(key.createdOn),
    key.expiresOn === undefined ? 'never' : day(key.expiresOn),
  ]);
  writeLine(io.stdout, table([['ID', 'NAME', 'KEY', 'OPENS', 'CREATED', 'EXPIRES'], ...rows]));
}

async function revoke(io: Io, keyId: string, options: SharedOptions): Promise<void> {
  const { client } = await connect(io, options);
  const answer = await client.call('revoke_key', { keyId });
  if (options.json) return writeJson(io.stdout, answer);
  writeLine(io.stdout, `Revoked ${answer.id}.`);
}

function collectScope(text: string, before: KeyScope[] = []): KeyScope[] {
  const scope = KEY_SCOPES.find(known => known === text);
  if (!scope) throw new InvalidArgumentError(`Choose from ${KEY_SCOPES.join(', ')}.`);
  return before.includes(scope) ? before : [...before, scope];
}

function parseDays(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new InvalidArgumentError('Give a whole number of days.');
  return Number(text);
}
