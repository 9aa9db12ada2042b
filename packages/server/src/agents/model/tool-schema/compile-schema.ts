import { whyNoSchema } from '../../../connections/tool/check-schema.ts';
import { withoutHidden } from '../../../connections/tool/hidden-text.ts';
import { type JsonSchema, subschemasOf } from '../../../connections/tool/json-schema.ts';
import { mapTexts } from '../../../connections/tool/schema-texts.ts';
import { hidesText } from '../../../connections/tool/suspicious.ts';
import { canonicalJson, isObject } from '../../../kernel/json.ts';
import { granted, type Outcome, refused } from '../../../kernel/result.ts';
import type { SchemaDialect } from '../providers.ts';
import { DIALECTS, type Dialect } from './dialects.ts';
import { mendSchema, withoutBrokenReferences } from './mend-schema.ts';
import { modernise } from './modernise-schema.ts';
import { type Loss, type Rebuilt, rebuildSchema } from './rebuild-schema.ts';
import { renameMembers } from './rename-members.ts';

export interface CompiledSchema {
  /** The server's own, the same object, where the provider takes it as it is (W-19). */
  readonly schema: JsonSchema;
  readonly losses: readonly Loss[];
  /** What the server calls the arguments that have other names now, by these. */
  readonly names: ReadonlyMap<string, string>;
}

/** `reason` reads on after the name of the schema. */
type Compiled = Outcome<CompiledSchema, { readonly reason: string }>;

/** Of a schema as JSON, in characters: a little more than a server may send. */
const MAX_LENGTH = 300_000;

/** A schema is compiled once for each dialect, as long as somebody has it. */
const compiled = new WeakMap<JsonSchema, Map<SchemaDialect, Compiled>>();

/** The schema of a tool's arguments as a provider takes it, or why it cannot. Takes bounded time whatever the schema (attack 42). */
export function compileSchema(dialect: SchemaDialect, schema: JsonSchema): Compiled {
  const known = compiled.get(schema) ?? new Map<SchemaDialect, Compiled>();
  compiled.set(schema, known);
  const before = known.get(dialect);
  if (before) return before;
  const result = compileAnew(DIALECTS[dialect], schema);
  known.set(dialect, result);
  return result;
}

function compileAnew(dialect: Dialect, original: JsonSchema): Compiled {
  const unusable = whyNoSchema(original) ?? whyNoArguments(original);
  if (unusable !== undefined) return refused({ reason: unusable });
  const seen = withoutHiddenTexts(original);
  if (!seen) return refused({ reason: 'has names or values that nobody sees' });
  const { schema: rewritten, losses } = rewrite(dialect, seen);
  if (JSON.stringify(rewritten).length > MAX_LENGTH) {
    return refused({ reason: 'is too large once its references are written out' });
  }
  const isSame = canonicalJson(rewritten) === canonicalJson(original);
  const hidden: Loss[] = seen === original ? [] : [{ path: '', what: 'text that nobody sees' }];
  return granted(
    isSame
      ? named(dialect, { schema: original, losses: [] }, true)
      : named(dialect, { schema: asToday(rewritten), losses: [...hidden, ...losses] }, false),
  );
}

function whyNoArguments({ type }: JsonSchema): string | undefined {
  return type === 'object' ? undefined : 'is not the schema of an object';
}

function rewrite({ schema: { refuses, takes } }: Dialect, schema: JsonSchema): Rebuilt {
  return takes && (!refuses || !isSimple(schema))
    ? rebuildSchema(schema, takes)
    : mendSchema(schema, refuses!);
}

/** Is it without references, lists of types and, where a schema of its own would be expected, `true` and `false`? */
function isSimple(schema: JsonSchema): boolean {
  if (schema.$ref !== undefined || Array.isArray(schema.type)) return false;
  for (const { keyword, schema: inside } of subschemasOf(modernise(schema))) {
    if (isObject(inside) ? !isSimple(inside) : !MAY_BE_BOOLEAN.has(keyword)) return false;
  }
  return true;
}

const MAY_BE_BOOLEAN = new Set(['additionalProperties', 'unevaluatedProperties', 'unevaluatedItems']);

function named({ argument, schema: kind }: Dialect, made: Rebuilt, isSame: boolean): CompiledSchema {
  const renamed = argument && renameMembers(made.schema, argument);
  const isRenamed = renamed !== undefined && renamed.names.size > 0;
  if (isSame && !isRenamed) return { ...made, names: NONE };
  const { schema, lost, names } = renamed ?? { schema: made.schema, lost: [], names: NONE };
  const whole = kind.takes ? { schema, losses: [] } : withoutBrokenReferences(schema, isRenamed);
  const unnamed = lost.map((what): Loss => ({ path: '', what }));
  return { schema: whole.schema, names, losses: [...made.losses, ...unnamed, ...whole.losses] };
}

const NONE: ReadonlyMap<string, string> = new Map();

/** It is no longer of the draft that it was written for. */
function asToday(schema: JsonSchema): JsonSchema {
  const { $schema: _, ...rest } = schema;
  return rest;
}

/** The schema without what is hidden in its texts, the same where nothing is; `undefined` where it is hidden in what a call needs. */
function withoutHiddenTexts(schema: JsonSchema): JsonSchema | undefined {
  if (!hidesText(JSON.stringify(schema))) return schema;
  const seen = mapTexts(schema, text => (hidesText(text) ? withoutHidden(text) : text));
  return isObject(seen) && !hidesText(JSON.stringify(seen)) ? seen : undefined;
}
