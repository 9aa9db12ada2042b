import { z } from 'zod';
import { PlatformError } from '../../kernel/errors.ts';
import type { DocumentSchema } from './document-type.ts';

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** More would bury the first. */
const MAX_PROBLEMS = 5;

/**
 * Parses a document that is being written. An unknown key or a wrong value is a `PlatformError` of kind `invalid` that
 * names the field, its JSON path, the document type and the known fields there (platform.md 1.2).
 */
export function parseDocument<S extends z.ZodType>(document: DocumentSchema<S>, body: unknown): z.output<S> {
  const parsed = parseForm(document, body);
  document.check?.(parsed);
  return parsed;
}

function parseForm<S extends z.ZodType>(document: DocumentSchema<S>, body: unknown): z.output<S> {
  return parseStrictly(`${document.type} document`, document.body, body);
}

/** Parses a document that is already stored: keys that are not known (any more) are ignored, wrong values are not. */
export function parseStored<S extends z.ZodType>(document: DocumentSchema<S>, body: unknown): z.output<S> {
  const parsed = safeParse(document.body, body);
  if (parsed?.success) return parsed.data;
  const known = structuredClone(body);
  for (const issue of parsed ? intended(parsed.error.issues) : []) {
    if (issue.code !== 'unrecognized_keys') continue;
    const holder = valueAt(known, issue.path) as Record<string, unknown>;
    for (const key of issue.keys) delete holder[key];
  }
  return parseForm(document, known);
}

/** As `parseDocument` for what is no document of its own; `subject` opens the message: "parser step". */
export function parseStrictly<S extends z.ZodType>(subject: string, schema: S, value: unknown): z.output<S> {
  const parsed = safeParse(schema, value);
  if (parsed?.success) return parsed.data;
  if (parsed === undefined) throw new PlatformError('invalid', `${subject}: is nested too deeply.`);
  const problems = intended(parsed.error.issues).flatMap(issue => problemsOf(issue, schema, value));
  const shown = problems.slice(0, MAX_PROBLEMS).map(describe);
  if (problems.length > MAX_PROBLEMS) shown.push(`and ${problems.length - MAX_PROBLEMS} more`);
  const { path, field, knownFields } = problems[0]!;
  throw new PlatformError('invalid', `${subject}: ${shown.join('; ')}.`, {
    details: { path, field, knownFields },
  });
}

/** `undefined` when the value is nested deeper than the stack. */
function safeParse<S extends z.ZodType>(
  schema: S,
  value: unknown,
): z.ZodSafeParseResult<z.output<S>> | undefined {
  try {
    return schema.safeParse(value);
  } catch (thrown) {
    if (thrown instanceof RangeError) return undefined;
    throw thrown;
  }
}

interface Problem {
  readonly field: string;
  readonly path: string;
  readonly what: string;
  readonly knownFields: readonly string[];
}

function problemsOf(issue: Issue, schema: z.ZodType, value: unknown): Problem[] {
  if (issue.code === 'unrecognized_keys') {
    const knownFields = fieldsAt(schema, value, issue.path);
    return issue.keys.map(key => ({
      field: key,
      path: formatPath([...issue.path, key]),
      what: 'is unknown',
      knownFields,
    }));
  }
  const nameAt = issue.path.findLastIndex(segment => typeof segment === 'string');
  return [
    {
      field: nameAt === -1 ? '' : String(issue.path[nameAt]),
      path: formatPath(issue.path),
      what: `is not valid: ${issue.message.replace(/^Invalid (input|option): /, '')}`,
      knownFields: fieldsAt(schema, value, issue.path.slice(0, Math.max(nameAt, 0))),
    },
  ];
}

function describe({ field, path, what, knownFields }: Problem): string {
  const subject = field === '' ? 'the whole value' : `field "${field}" at ${path}`;
  const known = knownFields.length === 0 ? '' : ` (known fields there: ${knownFields.join(', ')})`;
  return `${subject} ${what}${known}`;
}

/** `$.behaviorGroups[0].name`; a key that is no plain word is quoted. */
function formatPath(path: Path): string {
  let text = '$';
  for (const segment of path) {
    if (typeof segment === 'number') text += `[${segment}]`;
    else
      text += /^[A-Za-z_$][\w$]*$/.test(String(segment))
        ? `.${String(segment)}`
        : `[${JSON.stringify(segment)}]`;
  }
  return text;
}

/** Looks through failed unions: the issues of the alternative whose `type` fits are what the writer meant. */
function intended(issues: readonly Issue[]): Issue[] {
  return issues.flatMap(issue => {
    if (issue.code !== 'invalid_union' || issue.errors.length === 0) return [issue];
    const meant = issue.errors.find(branch => !branch.some(({ path }) => path[0] === 'type'));
    return intended(meant ?? issue.errors.at(-1)!).map(inner => ({
      ...inner,
      path: [...issue.path, ...inner.path],
    }));
  });
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (at, segment) => (at as Record<PropertyKey, unknown> | undefined)?.[segment],
    value,
  );
}

/** Names of the fields a schema knows at a path; empty where it takes any, or is no object. */
function fieldsAt(schema: z.core.$ZodType, value: unknown, path: Path): string[] {
  const at = objectOrArray(schema, value);
  const [segment, ...rest] = path;
  if (at?.type === 'object') {
    if (segment === undefined) return Object.keys(at.shape);
    const field = at.shape[String(segment)];
    return field === undefined ? [] : fieldsAt(field, valueAt(value, [segment]), rest);
  }
  if (at?.type === 'array' && segment !== undefined) {
    return fieldsAt(at.element, valueAt(value, [segment]), rest);
  }
  return [];
}

type ObjectOrArray = z.core.$ZodObjectDef | z.core.$ZodArrayDef;

/** Unwraps optionals, defaults and transforms, and picks the alternative of a union by the value's `type`. */
function objectOrArray(schema: z.core.$ZodType, value: unknown): ObjectOrArray | undefined {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'object':
    case 'array':
      return def;
    case 'optional':
    case 'default':
    case 'prefault':
      return objectOrArray(def.innerType, value);
    case 'pipe':
      return objectOrArray(def.in, value) ?? objectOrArray(def.out, value);
    case 'lazy':
      return objectOrArray(def.getter(), value);
    case 'union': {
      const alternatives = def.options.map(option => objectOrArray(option, value));
      return alternatives.find(
        option =>
          option?.type === 'object' &&
          option.shape.type !== undefined &&
          z.safeParse(option.shape.type, valueAt(value, ['type'])).success,
      );
    }
    default:
      return undefined;
  }
}
