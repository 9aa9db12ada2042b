import { isObject } from '../../kernel/json.ts';
import type { ExpectedTool } from '../server/definition.ts';
import { createResolver, type JsonSchema, subschemasOf } from './json-schema.ts';
import type { RemoteTool } from './remote-tool.ts';

/**
 * What is counted on and not there, a sentence each: a tool the server does not list, an argument its schema requires and that is not
 * given, an argument its schema does not know. A server with any is degraded.
 */
export function missingFrom(
  tools: readonly RemoteTool[],
  expected: readonly ExpectedTool[],
): readonly string[] {
  const byName = new Map(tools.map(tool => [tool.name, tool]));
  return expected.flatMap(({ name, arguments: given }) => {
    const tool = byName.get(name);
    if (!tool) return [`The server has no tool "${name}".`];
    return given ? wrongArguments(name, new Set(given), tool.inputSchema) : [];
  });
}

function wrongArguments(tool: string, given: ReadonlySet<string>, schema: JsonSchema): string[] {
  const { known, required, isOpen } = argumentsOf(schema);
  const missing = [...required].filter(name => !given.has(name));
  const unknown = isOpen ? [] : [...given].filter(name => !known.has(name));
  return [
    ...missing.map(name => `The tool "${tool}" requires the argument "${name}", which is not given.`),
    ...unknown.map(name => `The tool "${tool}" does not know the argument "${name}".`),
  ];
}

interface Arguments {
  /** Known in any case of the schema. */
  readonly known: ReadonlySet<string>;
  /** Required in every case of it. */
  readonly required: ReadonlySet<string>;
  /** Does the schema say that it allows other arguments? */
  readonly isOpen: boolean;
}

function argumentsOf(root: JsonSchema): Arguments {
  const everyCase = schemasAbout(root, CERTAIN);
  const anyCase = schemasAbout(root, POSSIBLE);
  return {
    known: new Set(
      anyCase.flatMap(({ properties }) => (isObject(properties) ? Object.keys(properties) : [])),
    ),
    required: new Set(
      everyCase.flatMap(({ required }) => (Array.isArray(required) ? required.map(String) : [])),
    ),
    isOpen: anyCase.some(one => isGiven(one.additionalProperties) || isGiven(one.unevaluatedProperties)),
  };
}

/** Nothing said allows nothing, as does `false`. */
function isGiven(others: unknown): boolean {
  return others === true || isObject(others);
}

/** Keywords whose schemas are about the same arguments, in every case and in some. */
const CERTAIN = new Set(['allOf']);
const POSSIBLE = new Set(['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else', 'dependentSchemas']);

/** The schema and those it applies to the same value by reference or by these keywords, each once. */
function schemasAbout(root: JsonSchema, keywords: ReadonlySet<string>): JsonSchema[] {
  const resolve = createResolver(root);
  const found = new Set([root]);
  // A set is gone through to its end, also where it grows.
  for (const schema of found) {
    const target = typeof schema.$ref === 'string' ? resolve(schema.$ref) : undefined;
    if (target) found.add(target);
    for (const { keyword, schema: inside } of subschemasOf(schema)) {
      if (keywords.has(keyword) && isObject(inside)) found.add(inside);
    }
  }
  return [...found];
}
