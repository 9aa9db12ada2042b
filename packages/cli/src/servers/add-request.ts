// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders such as ${NAME} are what people write
import type { OperationInput } from '@patchbay/contract/client';
import { usageError } from '../cli-error.ts';
import type { Io } from '../io.ts';

/** What stands on the line of `servers add`, besides the name and the command. */
export interface AddOptions {
  readonly url?: string;
  readonly header?: readonly string[];
  readonly env?: readonly string[];
  readonly cwd?: string;
  readonly only?: string;
  readonly except?: string;
  readonly ungated?: boolean;
  readonly option?: readonly string[];
  readonly instance: string;
  readonly replace?: boolean;
  readonly wait: boolean;
}

/** The request the line means. Throws a usage error that names the flag. */
export function addRequest(
  io: Io,
  name: string,
  words: readonly string[],
  options: AddOptions,
): OperationInput<'add_server'> {
  const { url, header = [], env = [], cwd, instance, replace = false, wait } = options;
  const [command, ...args] = words;
  if (command === undefined && url === undefined) {
    throw usageError('Say how the server is reached: --url ADDRESS, or its command behind --.');
  }
  if (command !== undefined && url !== undefined) throw usageError('--url and a command exclude each other.');
  if (command === undefined && (env.length > 0 || cwd !== undefined)) {
    throw usageError('--env and --cwd are for a command; a server behind an address takes --header.');
  }
  if (command !== undefined && header.length > 0)
    throw usageError('--header is for an address; a command takes --env.');
  const vaulted: string[] = [];
  const variables = env.map((text): [string, string] => {
    const at = text.indexOf('=');
    const variable = at < 0 ? text : text.slice(0, at);
    if (variable === '') throw usageError('--env takes NAME=value, or NAME.');
    const value = at < 0 ? fromHere(io, variable) : fill(io, text.slice(at + 1));
    if (at < 0 || value !== text.slice(at + 1)) vaulted.push(variable);
    return [variable, value];
  });
  const headers = header.map((text): [string, string] => {
    const [, key, value] = /^([^:\s]+)\s*:\s*(.*)$/s.exec(text) ?? [];
    if (key === undefined) throw usageError("--header takes 'name: value'.");
    return [key, fill(io, value!)];
  });
  return {
    ...{ name, instance, replace, wait, vaulted },
    options: {
      ...(command === undefined ? { url } : { command, args }),
      ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
      ...(variables.length > 0 && { env: Object.fromEntries(variables) }),
      ...(cwd !== undefined && { cwd }),
      ...(options.only !== undefined && { only: names(options.only) }),
      ...(options.except !== undefined && { except: names(options.except) }),
      ...(options.ungated && { gated: false }),
      ...Object.fromEntries((options.option ?? []).map(otherOption)),
    },
  };
}

/** `${NAME}` from the environment of the command; `${NAME:default}`, `${vault:name}` and `${vars:name}` are the platform's. */
function fill(io: Io, text: string): string {
  return text.replace(/(?<!\$)\$\{([A-Za-z_]\w*)\}/g, (_, name: string) => fromHere(io, name));
}

function fromHere(io: Io, name: string): string {
  const value = io.env[name];
  if (value === undefined || value === '') throw usageError(`The variable ${name} is not set here.`);
  // What a variable holds is a value, and no reference.
  return value.replaceAll('${', () => '$${');
}

function names(text: string): string[] {
  return text.split(',').flatMap(name => name.trim() || []);
}

function otherOption(text: string): [string, unknown] {
  const at = text.indexOf('=');
  if (at < 1) throw usageError('--option takes name=value.');
  const value = text.slice(at + 1);
  try {
    return [text.slice(0, at), JSON.parse(value)];
  } catch {
    return [text.slice(0, at), value];
  }
}
