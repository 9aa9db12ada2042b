import { KEY_SCOPES, type KeyScope } from '@patchbay/contract/operations/keys';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { usageError } from '../cli-error.ts';
import { connect } from '../connection.ts';
import type { Io } from '../io.ts';
import { personId } from '../person-id.ts';
import { addSharedOptions, type SharedOptions, sharedOptions } from '../shared-options.ts';
import { day, printable, table, writeJson, writeLine } from '../text.ts';

interface CreateOptions extends SharedOptions {
  readonly scope?: KeyScope[];
  readonly name?: string;
  readonly expiresInDays?: number;
  readonly agent?: string;
  readonly shared?: boolean;
  readonly user?: string;
}

interface ListOptions extends SharedOptions {
  readonly user?: string;
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
    .option('--shared', 'an oag_ key that opens also agents others share with you')
    .option('--user <person>', 'for an admin: a key for this person, by login or id')
    .addHelpText(
      'after',
      `
Examples:
  KEY=$(npx patchbay keys create)
  npx patchbay keys create --scope operator --name laptop --expires-in-days 30
  npx patchbay keys create --agent demo --expires-in-days 365
  npx patchbay keys create --shared --user bob`,
    )
    .action(async (_: unknown, command: Command) => create(io, sharedOptions(command) as CreateOptions));

  addSharedOptions(keys.command('list'))
    .description('list your active keys')
    .option('--user <person>', 'for an admin: those of this person, by login or id')
    .addHelpText('after', '\nExamples:\n  npx patchbay keys list\n  npx patchbay keys list --user bob')
    .action(async (_: unknown, command: Command) => list(io, sharedOptions(command) as ListOptions));

  addSharedOptions(keys.command('revoke'))
    .description('end a key at once, with all that it has open')
    .argument('<id>', 'id of the key, as keys list shows it')
    .addHelpText('after', '\nExample:\n  npx patchbay keys revoke key_abc')
    .action(async (id: string, _: unknown, command: Command) => revoke(io, id, sharedOptions(command)));
}

async function create(io: Io, options: CreateOptions): Promise<void> {
  const { agent, scope, name, expiresInDays, shared, user } = options;
  if (agent !== undefined && (scope !== undefined || shared !== undefined || user !== undefined)) {
    throw usageError(
      '--agent makes a key for one agent of yours; it has no --scope, no --shared and no --user.',
    );
  }
  const { client } = await connect(io, options);
  const made =
    agent !== undefined
      ? await client.call('create_agent_key', { agentId: agent, name, expiresInDays })
      : await client.call('create_key', {
          name,
          expiresInDays,
          shared,
          userId: user === undefined ? undefined : await personId(client, user),
          ...(scope ? { scopes: scope } : {}),
        });
  if (options.json) {
    io.stdout.write(`${JSON.stringify({ key: made.key })}\n`);
    return;
  }
  // The key alone goes to stdout, so `KEY=$(npx patchbay keys create)` works.
  writeLine(io.stdout, made.key);
  const shown = [...made.scopes, ...(shared ? ['shared agents'] : [])].join(' and ');
  const opens = made.agentId === undefined ? shown : `agent ${made.agentId}`;
  const expires = made.expiresOn === undefined ? 'never expires' : `expires ${day(made.expiresOn)}`;
  writeLine(
    io.stderr,
    `Made key ${made.id} (${printable(made.name)}; opens ${opens}; ${expires}). It is not shown again. ` +
      `End it with: npx patchbay keys revoke ${made.id}`,
  );
}

async function list(io: Io, options: ListOptions): Promise<void> {
  const { client } = await connect(io, options);
  const { user } = options;
  const userId = user === undefined ? undefined : await personId(client, user);
  const answer = await client.call('list_keys', { userId });
  if (options.json) return writeJson(io.stdout, answer);
  if (answer.keys.length === 0)
    return writeLine(io.stderr, 'No keys. Make one with: npx patchbay keys create');
  const rows = answer.keys.map(key => [
    key.id,
    key.name,
    `${key.prefix}...`,
    key.agentId ?? [...key.scopes, ...(key.shared ? ['shared'] : [])].join(','),
    day(key.createdOn),
    key.expiresOn === undefined ? 'never' : day(key.expiresOn),
    key.lastUsedOn === undefined ? 'never' : day(key.lastUsedOn),
  ]);
  writeLine(io.stdout, table([['ID', 'NAME', 'KEY', 'OPENS', 'CREATED', 'EXPIRES', 'LAST USED'], ...rows]));
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
