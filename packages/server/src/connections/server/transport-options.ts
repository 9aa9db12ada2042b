import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { isObject } from '../../kernel/json.ts';
import type { ServerTransport } from './definition.ts';
import {
  choice,
  MAX_MEMBERS,
  parse,
  type Say,
  shownName,
  text,
  trueOrFalse,
  type Values,
  withOwnNames,
} from './option-values.ts';
import { checkAddress, checkText, type TextChecks } from './transport-texts.ts';

const MAX_URL = 2_000;
const MAX_COMMAND = 1_000;
const MAX_ARGS = 100;
const MAX_ARG = 8_192;
const MAX_HEADER = 8_192;
const MAX_ENV = 32_768;

const stdio = z.strictObject({
  command: text(MAX_COMMAND).refine(isPlain, 'must not hold control characters'),
  args: z
    .array(
      z
        .string('must be a text')
        .max(MAX_ARG, `must have at most ${MAX_ARG} characters`)
        .refine(isPlain, 'must not hold control characters'),
      'must be a list of texts',
    )
    .max(MAX_ARGS, `must have at most ${MAX_ARGS} entries`)
    .default([]),
  env: record(MAX_ENV, (name, value) => {
    if (!/^[A-Za-z_]\w{0,199}$/.test(name)) return 'is no name of a variable';
    return value.includes('\0') ? 'must not hold NUL' : undefined;
  }),
  cwd: text(MAX_COMMAND)
    .refine(folder => isAbsolute(folder) && isPlain(folder), 'must be an absolute path')
    .optional(),
  isolation: choice('shared', 'person', 'conversation').default('shared'),
});

const http = z.strictObject({
  url: text(MAX_URL),
  headers: record(MAX_HEADER, headerProblem),
  insecureTls: trueOrFalse.default(false),
});

function record(maxValue: number, problemOf: (name: string, value: string) => string | undefined) {
  return z
    .record(
      z.string(),
      z.string('must be a text').max(maxValue, `must have at most ${maxValue} characters`),
      'must be an object of texts',
    )
    .superRefine((members, context) => {
      const names = Object.keys(members);
      if (names.length > MAX_MEMBERS) context.addIssue(`must have at most ${MAX_MEMBERS} members`);
      for (const name of names) {
        const message = problemOf(name, members[name]!);
        if (message !== undefined) context.addIssue({ code: 'custom', path: [name], message });
      }
    })
    .default({});
}

const HEADERS_OF_THE_CONNECTION =
  /^(?:host|connection|content-length|content-type|accept|transfer-encoding|upgrade|expect|te|trailer|keep-alive|proxy-.*|mcp-.*|last-event-id)$/i;

/** What is wrong with a header of a server, as a phrase. */
export function headerProblem(name: string, value: string): string | undefined {
  if (!/^[!#$%&'*+.^`|~\w-]{1,200}$/.test(name)) return 'is not the name of an HTTP header';
  if (HEADERS_OF_THE_CONNECTION.test(name)) return 'is a header that the connection sets itself';
  return isPlain(value) ? undefined : 'must not hold control characters';
}

/** Tabs are fine; line ends and NUL would end a header, an argument, a variable. */
function isPlain(value: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return !/[\u0000-\u0008\u000a-\u001f\u007f]/.test(value);
}

const STDIO_NAMES = Object.keys(stdio.shape);
const HTTP_NAMES = Object.keys(http.shape);
/** Members of the flat form; `type` is what other hosts write beside it. */
export const TRANSPORT_OPTIONS = [...STDIO_NAMES, ...HTTP_NAMES, 'type'];
const FLAT = new Set(TRANSPORT_OPTIONS);

/** Does an option say how the server is reached? */
export function isTransportOption(name: string): boolean {
  return name === 'transport' || FLAT.has(name);
}

const FLAT_TYPES: Readonly<Record<string, ServerTransport['kind']>> = {
  stdio: 'stdio',
  http: 'http',
  streamableHttp: 'http',
  streamable_http: 'http',
  'streamable-http': 'http',
  sse: 'http',
};

const HOW_TO_REACH =
  '{ "command": "npx", "args": [...] } for a program of this machine, or { "url": "https://..." } for a server behind an address';

/** The transport in either form: under `transport`, or its members beside the options. */
export function readTransport(given: Values, texts: TextChecks, say: Say): ServerTransport | undefined {
  const flat = Object.entries(given).filter(([name]) => FLAT.has(name));
  if (given.transport !== undefined) {
    if (flat.length === 0) return readNested(given.transport, texts, say);
    say('transport', `and ${flat[0]![0]} both say how the server is reached; keep one`);
    return undefined;
  }
  const { type, ...members } = Object.fromEntries(flat) as Values;
  if (members.command === undefined && members.url === undefined) {
    say('transport', `is required: give ${HOW_TO_REACH}`);
    return undefined;
  }
  if (members.command !== undefined && members.url !== undefined) {
    say('command', 'and url both say how the server is reached; keep one');
    return undefined;
  }
  const kind = members.command === undefined ? 'http' : 'stdio';
  if (type !== undefined && FLAT_TYPES[String(type)] !== kind) {
    say(
      'type',
      kind === 'http'
        ? 'must be "http" for a server with a url'
        : 'must be "stdio" for a server with a command',
    );
  }
  return readMembers(kind, members, '', texts, say);
}

function readNested(value: unknown, texts: TextChecks, say: Say): ServerTransport | undefined {
  if (!isObject(value)) {
    say(
      'transport',
      `must be an object: { "stdio": { "command": ... } } or { "streamableHttp": { "url": ... } }`,
    );
    return undefined;
  }
  const given = withOwnNames(value, ['stdio', 'streamableHttp'], 'transport.', say);
  const [kind, ...others] = Object.keys(given);
  if (kind === undefined || others.length > 0) {
    say('transport', 'must have one member, stdio or streamableHttp');
    return undefined;
  }
  if (kind !== 'stdio' && kind !== 'streamableHttp') {
    say(`transport.${shownName(kind)}`, 'is no kind of transport; use stdio or streamableHttp');
    return undefined;
  }
  const members = given[kind];
  const place = `transport.${kind}`;
  if (!isObject(members)) {
    say(place, 'must be an object');
    return undefined;
  }
  return readMembers(kind === 'stdio' ? 'stdio' : 'http', members, `${place}.`, texts, say);
}

function readMembers(
  kind: ServerTransport['kind'],
  members: Values,
  place: string,
  texts: TextChecks,
  say: Say,
): ServerTransport | undefined {
  const names = kind === 'stdio' ? STDIO_NAMES : HTTP_NAMES;
  const own = withOwnNames(members, names, place, say);
  if (kind === 'stdio') {
    const values = parse(stdio, own, place, names, say);
    if (!values) return undefined;
    checkText(values.command, `${place}command`, 'seen', texts, say);
    for (const [index, arg] of values.args.entries()) {
      checkText(arg, `${place}args[${index}]`, 'seen', texts, say);
    }
    for (const [name, value] of Object.entries(values.env)) {
      checkText(value, `${place}env.${name}`, 'hidden', texts, say);
    }
    return { kind, ...values, cwd: values.cwd };
  }
  const values = parse(http, own, place, names, say);
  if (!values) return undefined;
  checkAddress(values.url, `${place}url`, texts, say);
  for (const [name, value] of Object.entries(values.headers)) {
    checkText(value, `${place}headers.${name}`, 'hidden', texts, say);
  }
  return { kind, ...values, hostFrom: 'operator' };
}
