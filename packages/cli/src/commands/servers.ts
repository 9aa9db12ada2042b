// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import { text as readAll } from 'node:stream/consumers';
import { type Client, ClientError } from '@patchbay/contract/client';
import { type Command, Option } from 'commander';
import { CliError, EXIT, usageError } from '../cli-error.ts';
import { connect } from '../connection.ts';
import { HOSTS, type HostName } from '../hosts/hosts.ts';
import type { Io } from '../io.ts';
import { type AddOptions, addRequest } from '../servers/add-request.ts';
import { confirm } from '../servers/confirm.ts';
import { type ImportSource, importServers } from '../servers/import-servers.ts';
import { addedText, serverTable, serverText, shownName, toolLines } from '../servers/server-text.ts';
import { addSharedOptions, type SharedOptions, sharedOptions } from '../shared-options.ts';
import { printable, table, writeJson, writeLine } from '../text.ts';

const PAGE = 200;

interface OfInstance extends SharedOptions {
  readonly instance: string;
}

export function addServers(program: Command, io: Io): void {
  const servers = program
    .command('servers')
    .description('MCP servers whose tools agents use: add, look after, import from other hosts')
    .addHelpText(
      'after',
      `
A server is a program of the platform's machine or stands behind an address. Agents reach it as patchbay:servers/NAME.

Examples:
  npx patchbay servers add files -- npx -y @modelcontextprotocol/server-filesystem /srv/files
  npx patchbay servers add linear --url https://mcp.linear.app/mcp --header 'authorization: Bearer \${LINEAR_KEY}'
  npx patchbay servers import --from claude-desktop
  npx patchbay servers list
  npx patchbay servers show linear                    why it is down, and what to do
  npx patchbay servers call files list_directory --arg path=/srv/files`,
    );
  addAdd(servers, io);
  addImport(servers, io);

  addSharedOptions(servers.command('list'))
    .description('list the servers, each with how it is')
    .option('--instance <name>', 'only those of one instance')
    .addHelpText('after', '\nExample:\n  npx patchbay servers list')
    .action(async (_: unknown, command: Command) => list(io, sharedOptions(command) as Partial<OfInstance>));

  about(
    servers,
    io,
    'show',
    'show how a server is, why it is down and what to do, and what it is told',
    show,
  );
  about(servers, io, 'tools', 'list the tools of a server, those that agents do not get too', tools);

  ofInstance(servers.command('call'))
    .description('call a tool by hand, and print what the server answers')
    .argument('<name>', 'name of the server')
    .argument('<tool>', "the server's own name of the tool; `tools` lists them")
    .argument('[arguments]', 'its arguments as one JSON object; - reads it from standard input')
    .option(
      '--arg <name=value>',
      'one argument; JSON where it is JSON, else a text; repeat for more',
      collect,
    )
    .addHelpText(
      'after',
      `
Exits 1 where the call was not sent, failed, or the tool says that it failed.

Examples:
  npx patchbay servers call files list_directory --arg path=/srv/files
  npx patchbay servers call search find '{"query": "tea", "limit": 3}'`,
    )
    .action(async (name: string, tool: string, args: string | undefined, _: unknown, command: Command) =>
      call(io, name, tool, args, sharedOptions(command) as CallOptions),
    );

  ofInstance(servers.command('accept'))
    .description('take tools as they are now for accepted, after a look at what changed')
    .argument('<name>', 'name of the server')
    .argument('[tools...]', "the server's own names of the tools; all unless given")
    .option('--yes', 'do not ask')
    .addHelpText('after', '\nExample:\n  npx patchbay servers accept linear search_issues')
    .action(async (name: string, names: string[], _: unknown, command: Command) =>
      accept(io, name, names, sharedOptions(command) as OfInstance & { readonly yes?: boolean }),
    );

  ofInstance(servers.command('remove'))
    .description('remove servers that were added, with their credentials')
    .argument('<names...>', 'names of the servers')
    .addHelpText('after', '\nExample:\n  npx patchbay servers remove linear')
    .action(async (names: string[], _: unknown, command: Command) =>
      remove(io, names, sharedOptions(command) as OfInstance),
    );
}

function ofInstance(command: Command): Command {
  return addSharedOptions(command).option('--instance <name>', 'which set of servers', 'default');
}

function about(
  servers: Command,
  io: Io,
  name: string,
  description: string,
  action: (io: Io, name: string, options: OfInstance) => Promise<void>,
): void {
  ofInstance(servers.command(name))
    .description(description)
    .argument('<name>', 'name of the server')
    .addHelpText('after', `\nExample:\n  npx patchbay servers ${name} linear`)
    .action(async (server: string, _: unknown, command: Command) =>
      action(io, server, sharedOptions(command) as OfInstance),
    );
}

function collect(text: string, before: readonly string[] = []): string[] {
  return [...before, text];
}

function addAdd(servers: Command, io: Io): void {
  servers
    .command('add')
    .description('add a server: a command behind --, or an address')
    .argument('<name>', 'its name; agents see its tools as NAME__TOOL')
    .argument('[command...]', 'behind --: the program and its arguments')
    .option('--url <address>', 'the address of the server, exactly as it publishes it')
    .option('--header <name: value>', 'sent with every request; repeat for more', collect)
    .option(
      '--env <NAME=value>',
      'a variable of the program, NAME alone takes it from here; repeat for more',
      collect,
    )
    .option('--cwd <folder>', 'the folder the program starts in, on the machine of the platform')
    .option('--only <tools>', 'the tools to offer, separated by commas')
    .option('--except <tools>', 'the tools to leave out, separated by commas')
    .option(
      '--ungated',
      'no tool needs the approval of a person, also where it does not say that it only reads',
    )
    .option('--option <name=value>', 'any other option, as JSON where it is JSON; repeat for more', collect)
    .option('--instance <name>', 'which set of servers', 'default')
    .option('--replace', 'take the place of one that was added under that name')
    .option('--no-wait', 'do not wait until it is connected')
    .option('--key <key>', 'key of the platform (PATCHBAY_KEY); default: the owner, on this machine')
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      `
Credentials go into the vault of the platform and are never shown again. \${NAME} in a header or a variable is taken from the environment of this
command, so that it does not stand in the history of your shell; \${vault:name} refers to a secret that is there.

Here --url is the address of the server. PATCHBAY_URL names another platform.

Examples:
  npx patchbay servers add files -- npx -y @modelcontextprotocol/server-filesystem /srv/files
  npx patchbay servers add github --env GITHUB_PERSONAL_ACCESS_TOKEN -- npx -y @modelcontextprotocol/server-github
  npx patchbay servers add linear --url https://mcp.linear.app/mcp --header 'authorization: Bearer \${LINEAR_KEY}'
  npx patchbay servers add search --url https://search.example.com/mcp --only find --option timeout=5000`,
    )
    .action(async (name: string, words: string[], _: unknown, command: Command) => {
      const own = command.opts() as AddOptions & { key?: string; json?: boolean };
      // Not of this command: its --url is the server's.
      const shared = sharedOptions(command.parent!);
      await add(io, name, words, own, {
        ...shared,
        key: own.key ?? shared.key,
        json: own.json ?? shared.json,
      });
    });
}

function addImport(servers: Command, io: Io): void {
  ofInstance(servers.command('import'))
    .description(
      "add the servers of another MCP host's file: Claude Desktop, Claude Code, Cursor, VS Code, Antigravity",
    )
    .argument('[file]', 'such as .mcp.json or .vscode/mcp.json; - reads standard input')
    .argument('[names...]', 'which of its servers; all that the host starts unless given')
    .addOption(
      new Option('--from <host>', 'instead of a file: your own servers of this host').choices(
        Object.keys(HOSTS),
      ),
    )
    .option('--input <id=value>', 'an answer to what the host would ask for; repeat for more', collect)
    .option('--replace', 'take the place of servers that were added under these names')
    .option('--dry-run', 'show what would be added, and add nothing')
    .option('--yes', 'do not ask about the commands that will run')
    .addHelpText(
      'after',
      `
\${env:NAME}, \${NAME} and \${NAME:-default} are filled in from the environment of this command, \${input:id} from what you are asked; what is filled in, and
each credential, goes into the vault. The exact commands are shown before any is stored.

Examples:
  npx patchbay servers import --from claude-desktop
  npx patchbay servers import --from cursor --dry-run
  npx patchbay servers import .mcp.json github linear
  npx patchbay servers import .vscode/mcp.json --input api-key=... --yes`,
    )
    .action(async (file: string | undefined, names: string[], _: unknown, command: Command) =>
      bringIn(io, file, names, sharedOptions(command) as ImportOptions),
    );
}

async function add(
  io: Io,
  name: string,
  words: readonly string[],
  own: AddOptions,
  options: SharedOptions,
): Promise<void> {
  const request = addRequest(io, name, words, own);
  const { client } = await connect(io, options);
  const server = await client.call('add_server', request);
  if (options.json) return writeJson(io.stdout, server);
  writeLine(io.stdout, addedText(server));
  if (server.state === 'unavailable' && server.remedy !== undefined)
    writeLine(io.stderr, printable(server.remedy));
  const place = server.instance === 'default' ? name : `${server.instance}/${name}`;
  writeLine(
    io.stderr,
    `Agents reach it as patchbay:servers/${place}; see it with: npx patchbay servers show ${name}`,
  );
}

interface ImportOptions extends OfInstance {
  readonly from?: HostName;
  readonly input?: readonly string[];
  readonly replace?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

async function bringIn(
  io: Io,
  file: string | undefined,
  names: readonly string[],
  options: ImportOptions,
): Promise<void> {
  const { from: host, instance, replace = false, yes = false, dryRun = false } = options;
  if (file === undefined && host === undefined) throw usageError('Name a file, or a host with --from.');
  const source: ImportSource = { file: host === undefined ? file : undefined, host };
  // With --from every word is a name.
  const chosen = host === undefined || file === undefined ? names : [file, ...names];
  const inputs = new Map((options.input ?? []).map(pair => split(pair, '--input', 'id')));
  const { client, baseUrl, operatorUrl } = await connect(io, options);
  const isOurs = (url: string) => url === operatorUrl || url.startsWith(`${baseUrl}/`);
  const choices = { names: chosen, instance, replace, yes, dryRun, inputs };
  const { added, skipped, failed } = await importServers(io, client, source, choices, isOurs);
  if (options.json) writeJson(io.stdout, { added, skipped, failed });
  else {
    for (const name of added) writeLine(io.stdout, `Added ${name}.`);
    for (const { name, reason } of skipped) writeLine(io.stderr, printable(`Left out ${name}: ${reason}.`));
    for (const { name, reason } of failed) {
      writeLine(io.stderr, printable(`Not added ${name}: ${reason.replace(/\.$/, '')}.`));
    }
    if (added.length > 0) writeLine(io.stderr, 'See how they are with: npx patchbay servers list');
  }
  if (failed.length > 0) {
    const left = failed.map(({ name }) => name).join(', ');
    const counted = `${added.length} of ${added.length + failed.length} servers were added; not ${left}.`;
    throw new CliError(EXIT.failed, printable(dryRun ? `These would not be added: ${left}.` : counted));
  }
}

function split(pair: string, flag: string, what: string): [string, string] {
  const at = pair.indexOf('=');
  if (at < 1) throw usageError(`${flag} takes ${what}=value.`);
  return [pair.slice(0, at), pair.slice(at + 1)];
}

async function list(io: Io, options: Partial<OfInstance>): Promise<void> {
  const { client } = await connect(io, options);
  const answer = await client.call('list_servers', { instance: options.instance });
  if (options.json) return writeJson(io.stdout, answer);
  if (answer.servers.length === 0) {
    return writeLine(
      io.stderr,
      'No servers. Add one with: npx patchbay servers add NAME -- COMMAND, or bring yours in with: npx patchbay servers import --from HOST',
    );
  }
  writeLine(io.stdout, serverTable(answer.servers));
}

async function show(io: Io, name: string, options: OfInstance): Promise<void> {
  const { client } = await connect(io, options);
  const server = await client.call('read_server', { name, instance: options.instance });
  if (options.json) writeJson(io.stdout, server);
  else writeLine(io.stdout, serverText(server));
}

async function tools(io: Io, name: string, options: OfInstance): Promise<void> {
  const { client } = await connect(io, options);
  const all = await allTools(client, name, options.instance);
  if (options.json) return writeJson(io.stdout, { count: all.length, tools: all });
  if (all.length === 0) {
    return writeLine(
      io.stderr,
      `No tools are known of ${name}; see why with: npx patchbay servers show ${name}`,
    );
  }
  const rows = all.map(tool => [
    tool.name,
    tool.standing,
    tool.offeredAs ?? '',
    (tool.reason ?? tool.description ?? '').split('\n')[0]!.slice(0, 100),
  ]);
  writeLine(io.stdout, table([['TOOL', 'STANDING', 'AGENTS SEE', 'ABOUT'], ...rows]));
  for (const { name: tool, suspicious } of all) {
    if (suspicious)
      writeLine(
        io.stderr,
        printable(`What it says of ${tool} looks like instructions: ${suspicious.join(', ')}.`),
      );
  }
}

async function allTools(client: Client, name: string, instance: string) {
  const tools = [];
  for (let after: string | undefined; ; ) {
    const page = await client.call('list_server_tools', { name, instance, after, limit: PAGE });
    tools.push(...page.tools);
    if (page.count < PAGE) return tools;
    after = page.tools.at(-1)!.name;
  }
}

interface CallOptions extends OfInstance {
  readonly arg?: readonly string[];
}

async function call(
  io: Io,
  name: string,
  tool: string,
  text: string | undefined,
  options: CallOptions,
): Promise<void> {
  const given = argumentsOf(text === '-' ? await readAll(io.stdin) : text, options.arg ?? []);
  const { client } = await connect(io, options);
  const answer = await client.call('call_server_tool', {
    name,
    tool,
    arguments: given,
    instance: options.instance,
  });
  if (options.json) writeJson(io.stdout, answer);
  else if (answer.outcome === 'answered') {
    if (answer.structuredContent === undefined) writeLine(io.stdout, printable(answer.text ?? ''));
    else writeJson(io.stdout, answer.structuredContent);
    if (answer.cut) writeLine(io.stderr, 'The result was longer than maxResultBytes and was cut.');
    if (answer.suspicious)
      writeLine(
        io.stderr,
        printable(`It holds what looks like instructions: ${answer.suspicious.join(', ')}.`),
      );
  }
  if (answer.outcome === 'answered' && !answer.isError) return;
  throw new CliError(EXIT.failed, printable(whyFailed(tool, answer)));
}

function whyFailed(
  tool: string,
  { outcome, message = '', reached }: { outcome: string; message?: string; reached?: string },
): string {
  if (outcome === 'answered') return `${tool} says that it failed.`;
  const sentence = `${message.replace(/\.$/, '')}.`;
  return reached === 'no' ? `${sentence} Nothing was sent.` : `${sentence} The server may have got the call.`;
}

function argumentsOf(text: string | undefined, pairs: readonly string[]): Record<string, unknown> {
  const given = text === undefined ? {} : parseObject(text);
  for (const pair of pairs) {
    const [name, value] = split(pair, '--arg', 'name');
    given[name] = jsonOrText(value);
  }
  return given;
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Falls to the sentence below, as JSON that is no object.
  }
  throw usageError(`The arguments are one JSON object, such as '{"query": "tea"}'.`);
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function accept(
  io: Io,
  name: string,
  names: readonly string[],
  options: OfInstance & { readonly yes?: boolean },
): Promise<void> {
  const { instance } = options;
  const { client } = await connect(io, options);
  let seen: { readonly tools?: string[]; readonly digests?: Record<string, string> } = {
    ...(names.length > 0 && { tools: [...names] }),
  };
  if (!options.yes) {
    const server = await client.call('read_server', { name, instance });
    const changed = server.attention.filter(
      tool => tool.standing !== 'quarantined' && (names.length === 0 || names.includes(tool.name)),
    );
    if (changed.length === 0) {
      return writeLine(io.stderr, `Nothing of ${shownName(server)} waits to be accepted.`);
    }
    writeLine(io.stderr, changed.map(toolLines).join('\n'));
    if (!io.stdin.isTTY) throw usageError('Give --yes when these tools are what you want.');
    if (!(await confirm(io, 'Accept them as they are now?')))
      throw new CliError(EXIT.failed, 'Nothing was accepted.');
    // What was shown and nothing else: the server may have changed more, or again, meanwhile.
    seen = {
      tools: changed.map(tool => tool.name),
      digests: Object.fromEntries(changed.map(tool => [tool.name, tool.digest ?? ''])),
    };
  }
  const answer = await client.call('accept_server_tools', {
    name,
    instance,
    ...seen,
  });
  if (options.json) writeJson(io.stdout, answer);
  else writeLine(io.stdout, printable(`Accepted ${answer.accepted.join(', ')}.`));
}

async function remove(io: Io, names: readonly string[], options: OfInstance): Promise<void> {
  const { client } = await connect(io, options);
  const answers = [];
  const failed: string[] = [];
  for (const name of names) {
    try {
      const answer = await client.call('remove_server', { name, instance: options.instance });
      answers.push(answer);
      if (options.json) continue;
      writeLine(io.stdout, answer.removed ? `Removed ${name}.` : `There was no server ${name}.`);
    } catch (error) {
      if (!(error instanceof ClientError) || names.length === 1 || error.status === 0) throw error;
      failed.push(name);
      writeLine(io.stderr, printable(`${name}: ${error.message}`));
    }
  }
  if (options.json) writeJson(io.stdout, { servers: answers });
  if (failed.length > 0) throw new CliError(EXIT.failed, `Not removed: ${failed.join(', ')}.`);
}
