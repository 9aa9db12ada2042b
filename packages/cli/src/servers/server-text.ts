import type { OperationOutput } from '@patchbay/contract/client';
import { indent, printable, shellWord, table } from '../text.ts';

type Details = OperationOutput<'read_server'>;
type Summary = OperationOutput<'list_servers'>['servers'][number];

/** The default instance needs no saying. */
export function shownName({ instance, name }: { readonly instance: string; readonly name: string }): string {
  return instance === 'default' ? name : `${instance}/${name}`;
}

/** The servers as a table. */
export function serverTable(servers: readonly Summary[]): string {
  const rows = servers.map(server => [
    shownName(server),
    server.state,
    String(server.toolCount),
    server.transport === 'stdio' ? 'program' : server.transport,
    server.source === 'configuration' ? 'file' : 'added',
    server.problem ?? '',
  ]);
  return table([['NAME', 'STATE', 'TOOLS', 'KIND', 'FROM', 'PROBLEM'], ...rows]);
}

/** How a server is and what to do about it, for a person. */
export function serverText(server: Details): string {
  const rows = [
    ['state', server.state],
    ['tools', String(server.toolCount)],
    ['next try', server.retryOn === undefined ? '' : `${time(server.retryOn)} UTC`],
    [
      'speaks',
      server.speaks ? `${server.speaks.name} ${server.speaks.version}, MCP ${server.speaks.protocol}` : '',
    ],
    ['from', server.source === 'configuration' ? 'the configuration file' : addedBy(server)],
    ...optionRows(server.options),
  ].filter(([, value]) => value !== '');
  const parts = [printable(server.says), table(rows as string[][])];
  if (server.remedy !== undefined) parts.splice(1, 0, `What to do: ${printable(server.remedy)}`);
  if (server.attention.length > 0) {
    parts.push(`Tools that need a look:\n${indent(server.attention.map(toolLines).join('\n'), '  ')}`);
  }
  if (server.stderr.length > 0) {
    parts.push(`It wrote to standard error:\n${indent(server.stderr.map(printable).join('\n'), '  ')}`);
  }
  return parts.join('\n\n');
}

/** What is the matter with a tool. */
export function toolLines({ name, standing, reason, changes }: Details['attention'][number]): string {
  const about = reason ?? (standing === 'offered' ? 'it changed since it was accepted' : standing);
  return printable([`${name}: ${about}`, ...changes.map(change => `  ${change}`)].join('\n'));
}

/** One line for a server that has just been added. */
export function addedText(server: Details): string {
  const name = shownName(server);
  if (server.state === 'available' || server.state === 'degraded') {
    return printable(`Added ${name}: ${tools(server.toolCount)}.`);
  }
  return server.state === 'unavailable'
    ? printable(`Added ${name}, but it is down: ${server.problem ?? server.says}`)
    : `Added ${name}.`;
}

/** The exact command a server is, as a shell would take it. */
export function commandText(command: string, args: readonly string[]): string {
  return [command, ...args].map(word => visible(shellWord(word))).join(' ');
}

/** Nothing of a command may hide: neither what moves the cursor nor what turns the direction of text. */
function visible(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    character => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
}

function optionRows(options: Details['options']): string[][] {
  const { command, args = [], url, ...rest } = options as { command?: string; args?: string[]; url?: string };
  const reached = command === undefined ? ['url', url ?? ''] : ['runs', commandText(command, args)];
  return [reached, ...Object.entries(rest).map(([name, value]) => [name, valueText(value)])];
}

function valueText(value: unknown): string {
  if (Array.isArray(value)) return value.map(valueText).join(', ');
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([name, member]) => `${name}=${valueText(member)}`)
    .join(' ');
}

function addedBy({ addedBy: who, changedOn }: Details): string {
  return who === undefined
    ? ''
    : `added by ${who}${changedOn === undefined ? '' : `, ${time(changedOn)} UTC`}`;
}

function tools(count: number): string {
  return count === 1 ? 'one tool' : `${count} tools`;
}

function time(at: number): string {
  return new Date(at).toISOString().slice(0, 16).replace('T', ' ');
}
