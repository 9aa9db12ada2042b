import { type PublishedArgument, publishedInput } from '@patchbay/contract/operation';
import { OPERATIONS, type Operation } from '@patchbay/contract/operations';
import type { Command } from 'commander';
import { usageError } from '../cli-error.ts';
import { connect } from '../connection.ts';
import type { Io } from '../io.ts';
import { addConnectionOptions, type SharedOptions, sharedOptions } from '../shared-options.ts';
import { indent, shellWord, table, writeJson, writeLine } from '../text.ts';

interface CallOptions extends SharedOptions {
  readonly arg?: readonly string[];
  /** The arguments as text; `true` when the flag came without them and only asks for JSON, which calls always print. */
  readonly arguments?: string | true;
}

/** Every operation is a command below `call`, made from its definition: a new one needs nothing here. */
export function addCall(program: Command, io: Io): void {
  const call = program
    .command('call')
    .description('call any operation; the result is printed as JSON')
    .argument('[operation]', 'its name; --list shows them all')
    .option('--list', 'list the operations with their routes')
    .option('--json', 'print the list as JSON')
    .addHelpText(
      'after',
      `
Examples:
  npx patchbay call --list
  npx patchbay call chat_with_agent --help
  npx patchbay call chat_with_agent --arg agentId=demo --arg message=hello
  npx patchbay call chat_with_agent --json '{"agentId":"demo","message":"hello"}'`,
    )
    .action((operation: string | undefined, options: { list?: boolean }, command: Command) => {
      if (options.list && operation === undefined) return listOperations(io, sharedOptions(command));
      throw usageError(
        operation === undefined
          ? 'Name an operation; `npx patchbay call --list` shows them all.'
          : `There is no operation ${operation}; \`npx patchbay call --list\` shows them all.`,
      );
    });
  // One help entry for each of them would hide the ones above.
  call.configureHelp({ ...call.configureHelp(), visibleCommands: () => [] });
  for (const operation of OPERATIONS) addOperation(call, io, operation);
}

function addOperation(call: Command, io: Io, operation: Operation): void {
  const command = addConnectionOptions(call.command(operation.name))
    .description(operation.description)
    .option('--arg <name=value>', 'one argument; repeat for more', (text, before?: string[]) => [
      ...(before ?? []),
      text,
    ])
    .option('--json [arguments]', 'the arguments as one JSON object')
    .configureHelp({ showGlobalOptions: false })
    .addHelpText('after', () => `\n${argumentHelp(operation)}`);
  command.action(async () => {
    const own = command.opts();
    const options = { ...sharedOptions(command), arguments: own.json } as CallOptions;
    const args = readArguments(operation, options);
    const { client } = await connect(io, options);
    writeJson(io.stdout, await client.call(operation.name, args as never));
  });
}

function listOperations(io: Io, options: SharedOptions): void {
  const operations = OPERATIONS.map(({ name, title, description, rest }) => {
    return { name, title, description, method: rest.method, path: `/api/v1${rest.path}` };
  });
  if (options.json) writeJson(io.stdout, { count: operations.length, operations });
  else {
    const rows = operations.map(({ name, title, method, path }) => [name, `${method} ${path}`, title]);
    writeLine(io.stdout, table([['OPERATION', 'ROUTE', 'WHAT IT DOES'], ...rows]));
  }
}

function argumentHelp(operation: Operation): string {
  const { properties, required } = publishedInput(operation);
  const rows = Object.entries(properties).map(([name, { type = 'any', description = '', enum: values }]) => [
    name,
    values ? values.join('|') : [type].flat().join('|'),
    `${required.includes(name) ? 'Required. ' : ''}${description}`,
  ]);
  const example = operation.examples[0] ?? Object.fromEntries(required.map(name => [name, '...']));
  const words = Object.entries(example).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return ` --arg ${shellWord(`${name}=${text}`)}`;
  });
  return [
    ...(rows.length === 0 ? ['It takes no arguments.'] : ['Arguments:', indent(table(rows), '  ')]),
    '',
    'Example:',
    `  npx patchbay call ${operation.name}${words.join('')}`,
  ].join('\n');
}

/** The arguments of `--json`, then those of `--arg` over them. Values are checked by the platform, which says it best. */
function readArguments(operation: Operation, options: CallOptions): Record<string, unknown> {
  const { properties, required } = publishedInput(operation);
  const args = typeof options.arguments === 'string' ? parseArguments(options.arguments) : {};
  const given = new Map<string, string[]>();
  for (const pair of options.arg ?? []) {
    const split = pair.indexOf('=');
    if (split < 1) throw usageError(`--arg takes name=value, not '${pair}'.`);
    const name = pair.slice(0, split);
    given.set(name, [...(given.get(name) ?? []), pair.slice(split + 1)]);
  }
  for (const [name, texts] of given) {
    const schema = properties[name];
    if (!schema) {
      const known = Object.keys(properties).join(', ') || 'no arguments';
      throw usageError(`${operation.name} has no argument ${name}; it takes ${known}.`);
    }
    args[name] = argumentValue(name, texts, schema);
  }
  const missing = required.find(name => args[name] === undefined || args[name] === null);
  if (missing !== undefined) throw usageError(`Missing required argument: ${missing}`);
  return args;
}

function parseArguments(text: string): Record<string, unknown> {
  try {
    const value = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Falls to the sentence below, as JSON that is no object.
  }
  throw usageError(`--json takes the arguments as one JSON object, such as '{"agentId":"demo"}'.`);
}

function argumentValue(name: string, texts: readonly string[], schema: PublishedArgument): unknown {
  if (schema.type === 'array')
    return texts.flatMap(text => (text.startsWith('[') ? parseValue(name, text) : [text]));
  const text = texts[0]!;
  if (texts.length > 1)
    throw usageError(`--arg ${name} was given ${texts.length} times; it takes one value.`);
  const types = [schema.type ?? 'JSON value'].flat();
  return types.includes('string') ? text : parseValue(name, text, types.join(' or '));
}

function parseValue(name: string, text: string, type = 'JSON value'): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw usageError(`--arg ${name}: '${text}' is no ${type}.`, { cause });
  }
}
