import { readFile } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { type Client, ClientError } from '@patchbay/contract/client';
import { askValue } from '../ask.ts';
import { CliError, EXIT, usageError } from '../cli-error.ts';
import { HOSTS, type HostName } from '../hosts/hosts.ts';
import type { Io } from '../io.ts';
import { printable, writeLine } from '../text.ts';
import { confirm } from './confirm.ts';
import { type FilledEntry, fillIn, inputsIn } from './fill-in.ts';
import { type HostFile, readHostFile } from './host-file.ts';
import { nameFor, readEntry, type ServerEntry } from './server-entry.ts';
import { commandText } from './server-text.ts';

/** Where the servers come from. */
export interface ImportSource {
  /** A file; `-` is standard input. */
  readonly file: string | undefined;
  /** The person's own file of a host. */
  readonly host: HostName | undefined;
}

export interface ImportChoices {
  /** Names in the file; empty is all that the host starts. */
  readonly names: readonly string[];
  readonly instance: string;
  readonly replace: boolean;
  /** Consent to the commands and to what leaves, given before they were shown. */
  readonly yes: boolean;
  readonly dryRun: boolean;
  /** Answers of `${input:id}`. */
  readonly inputs: ReadonlyMap<string, string>;
}

export interface Imported {
  readonly added: readonly string[];
  readonly skipped: readonly Left[];
  readonly failed: readonly Left[];
}

interface Left {
  readonly name: string;
  readonly reason: string;
}

interface Planned extends FilledEntry {
  /** In the file, and here. */
  readonly from: string;
  readonly name: string;
}

/**
 * Brings the servers of a host's file in, as far as they can be read and filled in. The exact commands, and what leaves from here for which
 * address, are shown and asked about before any is stored (mcp.md 1.5): whoever wrote the file may not be who imports it. What was not added is said, one by one.
 */
export async function importServers(
  io: Io,
  client: Client,
  source: ImportSource,
  choices: ImportChoices,
  isOurs: (url: string) => boolean,
): Promise<Imported> {
  const { text, name, workspace } = await readSource(io, source);
  const file = readHostFile(text, name);
  const inputs = await answersTo(io, file, choices, source.file === '-');
  const { planned, skipped, failed } = plan(io, file, choices, { workspace, inputs, isOurs });
  if (planned.length > 0) {
    showPlan(io, planned, choices);
    if (!choices.dryRun) await consent(io, planned, choices, source.file === '-');
  }
  const added: string[] = [];
  for (const one of choices.dryRun ? [] : planned) {
    const error = await add(client, one, choices);
    // Without a platform, or for who may add none, there is nothing to go on with; what was added is said all the same.
    if (error && added.length === 0 && isFinal(error)) throw error;
    if (error) failed.push({ name: one.name, reason: error.message });
    else added.push(one.name);
  }
  return { added, skipped, failed };
}

async function readSource(
  io: Io,
  { file, host }: ImportSource,
): Promise<{ text: string; name: string; workspace: string | undefined }> {
  if (file === '-') return { text: await readAll(io.stdin), name: 'Standard input', workspace: io.cwd };
  const path = file === undefined ? HOSTS[host!].configFile(io) : resolve(io.cwd, file);
  const name = file ?? path;
  try {
    const folder = dirname(path);
    // The file of a project stands in its folder, or in one of the host's inside.
    const workspace = /^\.(?:vscode|cursor|gemini|roo)$/.test(basename(folder)) ? dirname(folder) : folder;
    return {
      text: await readFile(path, 'utf8'),
      name,
      workspace: file === undefined ? undefined : workspace,
    };
  } catch (cause) {
    const missing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    const title = host === undefined ? '' : `${HOSTS[host].title} has no servers here: `;
    throw new CliError(EXIT.failed, `${title}${name} ${missing ? 'does not exist' : 'cannot be read'}.`, {
      cause,
    });
  }
}

/** What the host would ask for: from the options, else from the person. One that nobody answers is missing where it is needed. */
async function answersTo(
  io: Io,
  file: HostFile,
  { names, inputs }: ImportChoices,
  isPiped: boolean,
): Promise<ReadonlyMap<string, string>> {
  const answers = new Map(inputs);
  const entries = Object.entries(file.servers).filter(([name]) => names.length === 0 || names.includes(name));
  const needed = new Set(
    entries.flatMap(([, value]) => {
      const entry = readEntry(value);
      return typeof entry === 'string' || entry.isDisabled ? [] : inputsIn(entry);
    }),
  );
  for (const id of needed) {
    if (answers.has(id)) continue;
    const input = file.inputs.find(one => one.id === id);
    if (io.stdin.isTTY && !isPiped) {
      const hidden = input?.isSecret ?? true;
      const prompt = `${input?.description ?? id}${hidden ? ' (not shown)' : ''}: `;
      answers.set(id, await askValue(io, prompt, { hidden }));
    } else if (input?.usual !== undefined) answers.set(id, input.usual);
  }
  return answers;
}

function plan(
  io: Io,
  file: HostFile,
  choices: ImportChoices,
  where: {
    readonly workspace: string | undefined;
    readonly inputs: ReadonlyMap<string, string>;
    readonly isOurs: (url: string) => boolean;
  },
): { planned: Planned[]; skipped: Left[]; failed: Left[] } {
  const planned: Planned[] = [];
  const skipped: Left[] = [];
  const failed: Left[] = choices.names
    .filter(name => !Object.hasOwn(file.servers, name))
    .map(name => ({ name, reason: 'the file has no server of that name' }));
  for (const [from, value] of Object.entries(file.servers)) {
    if (choices.names.length > 0 && !choices.names.includes(from)) continue;
    const entry = readEntry(value);
    if (typeof entry === 'string') {
      failed.push({ name: from, reason: entry });
      continue;
    }
    if (entry.isDisabled && choices.names.length === 0) {
      skipped.push({ name: from, reason: 'the host does not start it; name it to have it added' });
      continue;
    }
    if (isThisPlatform(io, entry, where.isOurs)) {
      skipped.push({ name: from, reason: 'it is this platform' });
      continue;
    }
    const filled = fillIn(entry, { env: io.env, home: io.home, ...where });
    const name = nameFor(from);
    const taken = planned.find(one => one.name === name);
    if (filled.missing.length > 0) failed.push({ name: from, reason: filled.missing.join('; ') });
    else if (taken)
      failed.push({ name: from, reason: `${taken.from} is called ${name} here, too; rename one` });
    else planned.push({ ...filled, from, name });
  }
  return { planned, skipped, failed };
}

function isThisPlatform(
  io: Io,
  { command, args, url }: ServerEntry,
  isOurs: (url: string) => boolean,
): boolean {
  if (url !== undefined) return isOurs(url);
  return command === io.self.command && io.self.args.every((arg, index) => args[index] === arg);
}

function showPlan(io: Io, planned: readonly Planned[], { dryRun, instance }: ImportChoices): void {
  const to = instance === 'default' ? '' : ` to ${instance}`;
  writeLine(io.stderr, dryRun ? `These would be added${to}:` : `To be added${to}:`);
  for (const { name, from, entry, sent } of planned) {
    const { command, args, url, env, headers, cwd, ignored } = entry;
    writeLine(io.stderr);
    writeLine(io.stderr, `  ${name}${from === name ? '' : ` (there: ${from})`}`);
    if (command === undefined) writeLine(io.stderr, `    calls ${withoutQuery(url!)}`);
    else writeLine(io.stderr, `    runs  ${commandText(command, args)}`);
    if (cwd !== undefined) writeLine(io.stderr, `    in    ${commandText(cwd, [])}`);
    const given = [...Object.keys(env), ...Object.keys(headers)];
    if (given.length > 0) writeLine(io.stderr, `    with  ${given.join(', ')}`);
    if (sent.length > 0) writeLine(io.stderr, `    sends ${sent.map(printable).join(', ')}`);
    if (ignored.length > 0) writeLine(io.stderr, `    (without effect here: ${ignored.join(', ')})`);
  }
  writeLine(io.stderr);
}

function withoutQuery(url: string): string {
  return commandText(url.replace(/[?#].*$/s, ''), []);
}

async function consent(
  io: Io,
  planned: readonly Planned[],
  { yes }: ImportChoices,
  isPiped: boolean,
): Promise<void> {
  const commands = planned.filter(({ entry }) => entry.command !== undefined).length;
  const sends = planned.some(({ sent }) => sent.length > 0);
  if ((commands === 0 && !sends) || yes) return;
  const what = [
    ...(commands === 0
      ? []
      : [
          `${commands === 1 ? 'The command runs' : 'The commands run'} on the machine of the platform, as the user who runs it.`,
        ]),
    ...(sends ? ['What stands behind "sends" leaves for that address.'] : []),
  ].join(' ');
  if (!io.stdin.isTTY || isPiped) throw usageError(`${what} Give --yes when that is what you want.`);
  const agreed = await confirm(io, `${what} Add them?`);
  if (!agreed) throw new CliError(EXIT.failed, 'Nothing was added.');
}

function isFinal({ status }: ClientError): boolean {
  return status === 0 || status === 401 || status === 403;
}

/** Why it was not added; `undefined` when it was. */
async function add(
  client: Client,
  { name, entry, filled }: Planned,
  choices: ImportChoices,
): Promise<ClientError | undefined> {
  const { command, args, env, cwd, url, headers, only, except } = entry;
  const options = {
    ...(command === undefined
      ? { url, ...(Object.keys(headers).length > 0 && { headers }) }
      : { command, args, ...(Object.keys(env).length > 0 && { env }), ...(cwd !== undefined && { cwd }) }),
    ...(only && { only: [...only] }),
    ...(except.length > 0 && { except: [...except] }),
  };
  const { instance, replace } = choices;
  try {
    await client.call('add_server', { name, instance, options, replace, vaulted: [...filled] });
    return undefined;
  } catch (error) {
    if (error instanceof ClientError) return error;
    throw error;
  }
}
