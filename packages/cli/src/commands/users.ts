import type { Role } from '@patchbay/contract/roles';
import type { Command } from 'commander';
import { askValue } from '../ask.ts';
import { connect } from '../connection.ts';
import type { Io } from '../io.ts';
import { personId } from '../person-id.ts';
import { collectRoles, ROLE_NAMES } from '../role-names.ts';
import { addSharedOptions, type SharedOptions, sharedOptions } from '../shared-options.ts';
import { day, printable, table, writeJson, writeLine } from '../text.ts';

interface AddOptions extends SharedOptions {
  readonly name?: string;
  readonly role: readonly Role[];
  readonly password?: boolean;
}

interface RolesOptions extends SharedOptions {
  readonly role: readonly Role[];
}

const PAGE = 200;
const PERSON = ['<person>', 'login or id of the person, as users list shows them'] as const;
const ROLE_OPTION = '--role <roles>';

export function addUsers(program: Command, io: Io): void {
  const users = program
    .command('users')
    .description('say who may sign in, and as what')
    .addHelpText(
      'after',
      `
Roles: ${ROLE_NAMES}; each one says by itself what it opens.

Examples:
  npx patchbay users add anna --name 'Anna Kovács' --role editor    prints a link to choose a password with
  npx patchbay users list
  npx patchbay users roles anna --role editor,approver
  npx patchbay users reset anna                                     prints a link to choose another password with
  npx patchbay users disable anna
  npx patchbay users enable anna`,
    );

  addSharedOptions(users.command('add'))
    .description('add somebody; prints a one-time link with which they choose a password')
    .argument('<login>', 'what they sign in with: lower-case letters, digits and . _ @ + -')
    .option('--name <name>', 'name to show (default: the login)')
    .requiredOption(ROLE_OPTION, `roles, separated by commas: ${ROLE_NAMES}`, collectRoles)
    .option(
      '--password',
      'asks for their password, or reads it from standard input, instead of making a link',
    )
    .addHelpText(
      'after',
      `
Examples:
  npx patchbay users add anna --role editor
  npx patchbay users add bob --role user --password < password.txt`,
    )
    .action(async (login: string, _: unknown, command: Command) =>
      add(io, login, sharedOptions(command) as AddOptions),
    );

  addSharedOptions(users.command('list'))
    .description('list everybody')
    .addHelpText('after', '\nExample:\n  npx patchbay users list')
    .action(async (_: unknown, command: Command) => list(io, sharedOptions(command)));

  addSharedOptions(users.command('roles'))
    .description('give somebody exactly these roles')
    .argument(...PERSON)
    .requiredOption(ROLE_OPTION, `roles, separated by commas: ${ROLE_NAMES}`, collectRoles)
    .addHelpText('after', '\nExample:\n  npx patchbay users roles anna --role editor,approver')
    .action(async (who: string, _: unknown, command: Command) => {
      const options = sharedOptions(command) as RolesOptions;
      const { client } = await connect(io, options);
      const userId = await personId(client, who);
      const answer = await client.call('set_user_roles', { userId, roles: [...options.role] });
      if (options.json) writeJson(io.stdout, answer);
      else writeLine(io.stdout, `${label(answer)} is now ${answer.roles.join(', ')}.`);
    });

  addSharedOptions(users.command('reset'))
    .description(
      'sign somebody out everywhere, disconnect their applications and print a one-time link to choose another password with',
    )
    .argument(...PERSON)
    .option('--login <login>', 'what they sign in with, for who has no login yet: people of an OpenID realm')
    .addHelpText('after', '\nExample:\n  npx patchbay users reset anna')
    .action(async (who: string, _: unknown, command: Command) => {
      const options = sharedOptions(command) as SharedOptions & { readonly login?: string };
      const { client } = await connect(io, options);
      const userId = await personId(client, who);
      const answer = await client.call('reset_user_password', { userId, login: options.login });
      if (options.json) return writeJson(io.stdout, answer);
      writeLink(io, answer, `Took the password of ${label(answer)} away.`);
    });

  addSharedOptions(users.command('disable'))
    .description('shut somebody out at once, with their keys and connected applications')
    .argument(...PERSON)
    .addHelpText('after', '\nExample:\n  npx patchbay users disable anna')
    .action(async (who: string, _: unknown, command: Command) => {
      const options = sharedOptions(command);
      const { client } = await connect(io, options);
      const answer = await client.call('disable_user', { userId: await personId(client, who) });
      if (options.json) writeJson(io.stdout, answer);
      else writeLine(io.stdout, `${label(answer)} is shut out; keys and applications were ended.`);
    });

  addSharedOptions(users.command('enable'))
    .description('let somebody in again')
    .argument(...PERSON)
    .addHelpText('after', '\nExample:\n  npx patchbay users enable anna')
    .action(async (who: string, _: unknown, command: Command) => {
      const options = sharedOptions(command);
      const { client } = await connect(io, options);
      const answer = await client.call('enable_user', { userId: await personId(client, who) });
      if (options.json) writeJson(io.stdout, answer);
      else writeLine(io.stdout, `${label(answer)} may sign in again; keys that were ended stay ended.`);
    });
}

async function add(io: Io, login: string, options: AddOptions): Promise<void> {
  const { client } = await connect(io, options);
  const password = options.password
    ? await askValue(io, `Password of ${login} (not shown): `, { hidden: true })
    : undefined;
  const answer = await client.call('create_user', {
    login,
    name: options.name,
    roles: [...options.role],
    password,
  });
  if (options.json) return writeJson(io.stdout, answer);
  const done = `Added ${label(answer)} as ${answer.roles.join(', ')}.`;
  const { link, linkExpiresOn } = answer;
  if (link === undefined || linkExpiresOn === undefined) writeLine(io.stdout, done);
  else writeLink(io, { link, linkExpiresOn }, done);
}

/** The link alone goes to stdout, so that it can be sent on by a script. */
function writeLink(
  io: Io,
  { link, linkExpiresOn }: { readonly link: string; readonly linkExpiresOn: number },
  done: string,
): void {
  writeLine(
    io.stderr,
    `${done} With this link they choose a password, once and until ${time(linkExpiresOn)}:`,
  );
  writeLine(io.stdout, link);
}

async function list(io: Io, options: SharedOptions): Promise<void> {
  const { client } = await connect(io, options);
  const users = [];
  for (let after: string | undefined; ; ) {
    const page = await client.call('list_users', { after, limit: PAGE });
    users.push(...page.users);
    if (page.count < PAGE) break;
    after = page.users.at(-1)!.userId;
  }
  if (options.json) return writeJson(io.stdout, { count: users.length, users });
  const rows = users.map(user => [
    user.userId,
    user.login ?? '-',
    user.name,
    user.roles.join(',') || 'none',
    stateOf(user, io.now()),
    day(user.createdOn),
  ]);
  writeLine(io.stdout, table([['ID', 'LOGIN', 'NAME', 'ROLES', 'SIGN-IN', 'ADDED'], ...rows]));
}

function stateOf(
  user: {
    readonly disabled: boolean;
    readonly hasPassword: boolean;
    readonly lockedUntil?: number | undefined;
  },
  now: number,
): string {
  if (user.disabled) return 'disabled';
  if (user.lockedUntil !== undefined && user.lockedUntil > now)
    return `locked until ${time(user.lockedUntil)}`;
  return user.hasPassword ? 'password' : 'no password';
}

function label(user: { readonly userId: string; readonly login?: string | undefined }): string {
  return printable(user.login ?? user.userId);
}

function time(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
