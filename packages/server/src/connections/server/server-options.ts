import { z } from 'zod';
import { PlatformError } from '../../kernel/errors.ts';
import { isObject } from '../../kernel/json.ts';
import { AUTH_OPTIONS, readAuth } from './auth-options.ts';
import type { ServerDefinition, ServerRef } from './definition.ts';
import { frozen } from './frozen.ts';
import { choice, MAX_MEMBERS, parse, shownName, text, trueOrFalse, withOwnNames } from './option-values.ts';
import { isTransportOption, readTransport, TRANSPORT_OPTIONS } from './transport-options.ts';
import type { TextChecks } from './transport-texts.ts';

/*
 * The capability front-end: the options of a server that people write into `patchbay.config` or add while the platform runs
 * (requirements 2.3). Written in camelCase, and in snake_case by who comes from the seed.
 */

const DEFAULT_CONNECT_MS = 30_000;
const DEFAULT_CALL_MS = 60_000;
const DEFAULT_RESULT_BYTES = 131_072;
const MAX_MS = 3_600_000;
const MAX_RESULT_BYTES = 16 * 1024 * 1024;
const MAX_NAMES = 1_000;
const MAX_NAME = 200;
/** More would bury the first. */
const MAX_PROBLEMS = 5;

/**
 * Names of servers, instances and prefixes. Two underscores divide a prefix from the tool's own name, so none has them, or one at
 * its end: which server a tool belongs to can be read from its name in one way only (attack 25).
 */
const NAME = /^(?!.*__)[A-Za-z0-9](?:[A-Za-z0-9_-]{0,38}[A-Za-z0-9-])?$/;
const NAME_RULE =
  'must have 1 to 40 letters, digits, "-" and "_", beginning with a letter or digit, without "__" and "_" at the end';

export interface ServerOptionsContext {
  readonly ref: ServerRef;
  /** Only code can hold functions: what is stored, or written as JSON, is data (W-54). */
  readonly source: 'code' | 'data';
  readonly texts: TextChecks;
}

/** What is wrong with a name of a server or an instance, as a phrase; `undefined` for a right one. */
export function nameProblem(name: string): string | undefined {
  return NAME.test(name) ? undefined : NAME_RULE;
}

/**
 * The definition that options mean, with the defaults of one-system.md 8. Throws a `PlatformError` of kind `invalid` that names each
 * wrong or unknown option and what to do about it (W-04, W-42); no message repeats a value, which may be a secret.
 */
export function readServerOptions(options: unknown, context: ServerOptionsContext): ServerDefinition {
  const problems: string[] = [];
  const say = (option: string, problem: string) => problems.push(`${option} ${problem}.`);
  const { ref, source, texts } = context;
  for (const [what, name] of [
    ['the name of the instance', ref.scope],
    ['the name of the server', ref.name],
  ] as const) {
    const problem = nameProblem(name);
    if (problem !== undefined) say(what, problem);
  }
  if (!isObject(options))
    throw refusal(ref, ['its options must be an object, such as { "url": "https://..." }.']);
  const given = withOwnNames(options, OPTION_NAMES, '', say);
  for (const [name, why] of Object.entries(ABSENT)) {
    if (Object.hasOwn(given, name)) say(name, why);
    delete given[name];
  }
  const transport = readTransport(given, texts, say);
  const auth = transport && readAuth(given, transport, texts, say);
  const rest = Object.fromEntries(
    Object.entries(given).filter(([name]) => !isTransportOption(name) && !AUTH_OPTIONS.includes(name)),
  );
  const values = parse(source === 'code' ? optionsOfCode : optionsOfData, rest, '', KNOWN_OPTIONS, say);
  if (problems.length > 0 || !transport || !auth || !values) throw refusal(ref, problems);
  return frozen({
    ref: { scope: ref.scope, name: ref.name },
    transport,
    auth,
    connectTimeoutMs: values.connectTimeout,
    callTimeoutMs: values.timeout,
    only: values.only,
    except: values.except,
    prefix: values.prefix ?? ref.name,
    maxResultBytes: values.maxResultBytes,
    gated: gateOf(values.gated),
    trusted: values.trusted,
    descriptions: values.descriptions,
    cost: values.cost,
    expect: values.expect.map(tool =>
      typeof tool === 'string'
        ? { name: tool, arguments: undefined }
        : { name: tool.name, arguments: tool.arguments },
    ),
    exposeResources: false,
    changedTools: values.changedTools,
  });
}

function gateOf(given: boolean | readonly string[] | undefined): ServerDefinition['gated'] {
  if (given === undefined) return 'not-read-only';
  if (typeof given === 'boolean') return given ? 'all' : 'none';
  return given;
}

/** Options of the seeds whose feature is not here. */
const ABSENT: Readonly<Record<string, string>> = {
  external: 'asks for a leak check, which this platform does not have; leave it out',
  elicitation: 'lets the server ask people, which this platform does not do; leave it out',
};

const toolNames = z
  .array(text(MAX_NAME), 'must be a list of names of tools')
  .max(MAX_NAMES, `must have at most ${MAX_NAMES} names`);
function whole(max: number) {
  const error = `must be a whole number from 1 to ${max}`;
  return z.int(error).min(1, error).max(max, error);
}

const fixedCost = z.strictObject(
  {
    usd: z
      .number('must be a number of US dollars')
      .min(0, 'must not be negative')
      .max(10_000, 'must be at most 10000'),
  },
  'must be an object such as { "usd": 0.001 }',
);

const sharedOptions = {
  only: toolNames.min(1, 'must name a tool; leave it out for every tool').optional(),
  except: toolNames.default([]),
  /** Of one call, in milliseconds (W-26). */
  timeout: whole(MAX_MS).default(DEFAULT_CALL_MS),
  connectTimeout: whole(MAX_MS).default(DEFAULT_CONNECT_MS),
  maxResultBytes: whole(MAX_RESULT_BYTES).default(DEFAULT_RESULT_BYTES),
  prefix: z
    .string('must be a text')
    .refine(
      prefix => prefix === '' || NAME.test(prefix),
      `must be empty, or ${NAME_RULE.slice('must '.length)}`,
    )
    .optional(),
  gated: z
    .union(
      [z.boolean(), toolNames.min(1, 'must name a tool; give false for none')],
      'must be true, false, or a list that names tools, such as ["create_*"]; false is none',
    )
    .optional(),
  trusted: trueOrFalse.default(false),
  descriptions: choice('verbatim', 'governed').default('verbatim'),
  expect: z
    .array(
      z.union(
        [
          text(MAX_NAME),
          z.strictObject({
            name: text(MAX_NAME),
            arguments: z.array(text(MAX_NAME)).max(MAX_MEMBERS).optional(),
          }),
        ],
        'must be the name of a tool, or an object such as { "name": "search", "arguments": ["query"] }',
      ),
      'must be a list of tools',
    )
    .max(MAX_NAMES, `must have at most ${MAX_NAMES} tools`)
    .default([]),
  changedTools: choice('report', 'hold').default('report'),
};

const optionsOfData = z.strictObject({ ...sharedOptions, cost: fixedCost.optional() });
const optionsOfCode = z.strictObject({
  ...sharedOptions,
  cost: z
    .union(
      [
        fixedCost,
        z.custom<(result: unknown) => { readonly usd: number }>(value => typeof value === 'function'),
      ],
      'must be an object such as { "usd": 0.001 }, or a function of the result',
    )
    .optional(),
});

const KNOWN_OPTIONS = [
  ...Object.keys(sharedOptions),
  'cost',
  'transport',
  ...TRANSPORT_OPTIONS,
  ...AUTH_OPTIONS,
];
const OPTION_NAMES = [...KNOWN_OPTIONS, ...Object.keys(ABSENT)];

function refusal(ref: ServerRef, problems: readonly string[]): PlatformError {
  const shown = problems.slice(0, MAX_PROBLEMS);
  if (problems.length > MAX_PROBLEMS) shown.push(`There are ${problems.length - MAX_PROBLEMS} more.`);
  return new PlatformError('invalid', `Server ${shownName(ref.name)}: ${shown.join(' ')}`, {
    details: { problems: shown },
  });
}
