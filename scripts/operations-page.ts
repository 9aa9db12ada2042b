import { ERROR_TABLE, type ErrorKind } from '@patchbay/contract/errors';
import { sendsBody } from '@patchbay/contract/operation';
import { ERROR_MEANINGS } from '@patchbay/contract/operation-errors';
import {
  describeOperations,
  FAMILIES,
  type JsonSchema,
  type OperationReference,
  type RecordedExample,
  type RecordedExamples,
} from '@patchbay/contract/reference';
import { ROLES, type Role, TIERS } from '@patchbay/contract/roles';
import { shellWord } from '../packages/cli/src/text.ts';

const REST_ROOT = '/api/v1';

/** A line of code longer than this is broken, or points to what stands below. */
const MAX_LINE = 110;

/** The reference page of all operations, from the definitions that run them: it cannot lag behind. */
export function renderOperationsPage(examples: RecordedExamples): string {
  const operations = describeOperations(examples);
  const chapters = FAMILIES.map(family => ({
    family,
    members: operations.filter(({ definition }) => definition.family === family),
  }));

  return `# Operations

What the platform can do, each thing once: the tool of the operator door \`/mcp\`, the REST route and the command take the same arguments, answer
the same JSON and ask for the same roles. [Doors](doors.md), [REST](rest.md) and [the command line](cli.md) say how to call them; \`/api/v1/openapi.json\`
describes the routes for programs.

An argument the table does not name is refused, a missing one means its default, and so does \`null\`. Times are milliseconds since 1970. Members
marked \`?\` may be absent, and more may join.

${chapters.map(({ family, members }) => overview(family.name, members)).join('\n\n')}

## Errors

REST answers the status and the code, a tool the \`errorCode\`. Each operation below lists the codes it can answer besides those that all of them
can: ${codes(commonErrors(operations))}.

${table(['status', 'code', '`errorCode`', 'when'], errorRows(operations))}

${chapters.map(({ family, members }) => chapter(family.name, family.description, members, operations)).join('\n\n')}
`;
}

function overview(name: string, members: readonly OperationReference[]): string {
  const rows = members.map(({ definition: { name: operation, title, rest } }) => [
    `[\`${operation}\`](#${operation})`,
    `\`${rest.method} ${REST_ROOT}${rest.path}\``,
    title,
  ]);
  return table([name, 'route', ''], rows);
}

function chapter(
  name: string,
  description: string,
  members: readonly OperationReference[],
  operations: readonly OperationReference[],
): string {
  return [`## ${name}`, description, ...members.map(member => section(member, operations))].join('\n\n');
}

function section(reference: OperationReference, operations: readonly OperationReference[]): string {
  const { definition, example, errors } = reference;
  const { method, path } = definition.rest;
  const own = errors.filter(kind => !commonErrors(operations).includes(kind));
  const forms = [
    toolForm(reference),
    `REST: \`${method} ${REST_ROOT}${path}\``,
    `Command: \`${command(reference)}\``,
    `Key: ${definition.rest.surface === 'agents' ? 'any user key' : 'scope `operator`'}`,
    `Roles: ${rolesForm(reference)}`,
    `Effect: ${effect(reference)}`,
    ...(definition.rest.stream
      ? ['Stream: server-sent events where `text/event-stream` is accepted; `openapi.json` has their form']
      : []),
    ...(own.length > 0 ? [`Errors: ${codes(own)}`] : []),
  ];
  return [
    `### ${definition.name}`,
    definition.description,
    forms.map(form => `- ${form}`).join('\n'),
    ...argumentsTable(reference),
    table(['answer', 'type'], answerRows(reference, operations)),
    ...(example ? [exampleOf(reference, example)] : []),
  ].join('\n\n');
}

function rolesForm({ definition: { tierWithout }, roles }: OperationReference): string {
  const named = (list: readonly Role[]) => list.map(role => `\`${role}\``).join(', ');
  const usual = roles.length === ROLES.length ? 'all' : named(roles);
  return tierWithout
    ? `${usual}; without \`${tierWithout.argument}\` only ${named(TIERS[tierWithout.tier])}`
    : usual;
}

function toolForm({ definition: { name, tool, asText } }: OperationReference): string {
  if (!tool) return 'Tool: none, it is for REST and the command line';
  return `Tool: \`${name}\`${asText ? '; its text is prose, the answer below its `structuredContent`' : ''}`;
}

function effect({ definition: { annotations, runsTurn } }: OperationReference): string {
  const { readOnlyHint, destructiveHint, idempotentHint } = annotations;
  if (readOnlyHint) return 'reads only';
  const first = runsTurn
    ? 'the agent takes a turn'
    : destructiveHint
      ? 'ends or removes something'
      : 'adds something';
  return `${first}; a repeated call ${idempotentHint ? 'changes nothing more' : 'does it again'}`;
}

function command({ definition, example }: OperationReference): string {
  const start = `npx patchbay call ${definition.name}`;
  const given = Object.entries(example?.arguments ?? {});
  if (given.every(([, value]) => typeof value !== 'object')) {
    return start + given.map(([name, value]) => ` --arg ${shellWord(`${name}=${value}`)}`).join('');
  }
  return `${start} --json '{...}'`;
}

function argumentsTable({ arguments: { properties, required } }: OperationReference): string[] {
  const rows = Object.entries(properties).map(([name, { description = '', ...schema }]) => [
    `\`${name}\``,
    typeOf(schema as JsonSchema),
    required.includes(name) ? 'yes' : '',
    schema.default === undefined ? '' : `\`${plain(schema.default)}\``,
    // Two columns say this already.
    description.replace(/^Optional\. /, '').replace(/; default: [^;]*$/, ''),
  ]);
  return rows.length === 0
    ? ['It takes no arguments.']
    : [table(['argument', 'type', 'required', 'default', ''], rows)];
}

/** One row a member, nested ones as `agents[].agentId`; what another operation answers is not spelled out again. */
function answerRows(reference: OperationReference, operations: readonly OperationReference[]): string[][] {
  const rows: string[][] = [];
  const visit = (schema: JsonSchema, prefix: string): void => {
    for (const [name, member] of Object.entries(schema.properties ?? {})) {
      const path = `${prefix}${name}`;
      const isOptional = !schema.required?.includes(name);
      const same = operations.find(
        other =>
          other !== reference && member.properties && JSON.stringify(other.answer) === JSON.stringify(member),
      );
      const link = same && `what [\`${same.definition.name}\`](#${same.definition.name}) answers`;
      rows.push([`\`${path}${isOptional ? '?' : ''}\``, link ?? typeOf(member)]);
      if (same) continue;
      visit(member, `${path}.`);
      if (member.items) visit(member.items, `${path}[].`);
    }
  };
  visit(reference.answer, '');
  return rows;
}

function typeOf(schema: JsonSchema): string {
  const { type } = schema;
  if (typeof type === 'object') return type.join(' or ');
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(', ');
  if (schema.const !== undefined) return `\`${plain(schema.const)}\``;
  if (schema.enum) return schema.enum.map(value => `\`${plain(value)}\``).join(', ');
  switch (type) {
    case undefined:
      return 'any JSON';
    case 'array':
      return `list of ${schema.items?.enum ? typeOf(schema.items) : `${schema.items?.type ?? 'value'}s`}`;
    case 'integer': {
      const { minimum, maximum } = schema;
      if (minimum === undefined) return 'integer';
      // The largest integer a JSON number holds is no limit of ours.
      if (maximum === undefined || maximum === Number.MAX_SAFE_INTEGER) return `integer from ${minimum}`;
      return `integer, ${minimum} to ${maximum}`;
    }
    default:
      return type;
  }
}

function exampleOf({ definition, successStatus }: OperationReference, example: RecordedExample): string {
  const { method, path } = definition.rest;
  const rest = new Map(Object.entries(example.arguments));
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest.get(name);
    rest.delete(name);
    return encodeURIComponent(String(value));
  });
  const body = sendsBody(method) ? `\n\n${wrapJson(Object.fromEntries(rest))}` : '';
  const query = !sendsBody(method) && rest.size > 0 ? `?${queryOf(rest)}` : '';
  return `\`\`\`http
${method} ${REST_ROOT}${filled}${query}${body}
\`\`\`

answers ${successStatus}${
    successStatus === 204 ? ', and nothing' : `\n\n\`\`\`json\n${wrapJson(example.answer)}\n\`\`\``
  }`;
}

function queryOf(values: ReadonlyMap<string, unknown>): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of values) query.set(name, String(value));
  return query;
}

/** JSON with each object and list on one line where it fits. */
function wrapJson(value: unknown, margin = ''): string {
  const line = oneLine(value);
  if (typeof value !== 'object' || value === null || (margin + line).length <= MAX_LINE) return line;
  const inner = `${margin}  `;
  const [open, close, members] = membersOf(value, item => wrapJson(item, inner));
  return `${open}\n${inner}${members.join(`,\n${inner}`)}\n${margin}${close}`;
}

function oneLine(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const [open, close, members] = membersOf(value, oneLine);
  return open + members.join(', ') + close;
}

function membersOf(value: object, write: (item: unknown) => string): [open: string, close: string, string[]] {
  if (Array.isArray(value)) return ['[', ']', value.map(write)];
  const members = Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${write(item)}`);
  return ['{', '}', members];
}

/** What every operation can answer. */
function commonErrors(operations: readonly OperationReference[]): readonly ErrorKind[] {
  return operations[0]!.errors.filter(kind => operations.every(({ errors }) => errors.includes(kind)));
}

function errorRows(operations: readonly OperationReference[]): string[][] {
  const possible = new Set(operations.flatMap(({ errors }) => errors));
  return [...possible]
    .map(kind => {
      const { httpStatus, agentCode, errorCode } = ERROR_TABLE[kind];
      return [String(httpStatus), `\`${agentCode}\``, `\`${errorCode}\``, ERROR_MEANINGS[kind]];
    })
    .toSorted(([a], [b]) => Number(a) - Number(b));
}

function codes(kinds: readonly ErrorKind[]): string {
  return kinds.map(kind => `${ERROR_TABLE[kind].httpStatus} \`${ERROR_TABLE[kind].agentCode}\``).join(', ');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** A value as a reader would type it. */
function plain(value: unknown): string {
  return Array.isArray(value) ? value.join(', ') : String(value);
}
