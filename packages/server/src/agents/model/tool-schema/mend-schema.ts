import { Budget } from '../../../connections/tool/flatten-schema.ts';
import {
  createResolver,
  type JsonSchema,
  mapSubschemas,
  type ResolveReference,
} from '../../../connections/tool/json-schema.ts';
import { isObject } from '../../../kernel/json.ts';
import { choose } from './choices.ts';
import { CONDITION, combine } from './combine-schemas.ts';
import { modernise } from './modernise-schema.ts';
import type { Loss, Rebuilt } from './rebuild-schema.ts';
import { described, wordOf } from './words.ts';

/** What a provider refuses that takes JSON Schema 2020-12 otherwise. */
export interface Refusals {
  /** Keywords that the root may not have. */
  readonly atRoot: readonly string[];
  /** Keywords that no schema may have. */
  readonly anywhere: readonly string[];
  /** The largest numbers that it takes, by keyword. */
  readonly atMost: Readonly<Record<string, number>>;
  /** How many values one may be chosen from; any number where nothing is said. */
  readonly values?: number;
  /** Must a list say what is in it, and the root what its members are? */
  readonly needsStructure: boolean;
  /** May a pattern look ahead and behind? */
  readonly lookaround: boolean;
}

/** Keywords, and what stands directly in them, looked at when the root is made one. */
const MAX_WORK = 100_000;

/**
 * The schema of an object with as little changed as the provider asks for: what is malformed in 2020-12 is said in its words or left out, what
 * is refused stands in the descriptions and in `losses`. Takes time linear in the schema.
 */
export function mendSchema(root: JsonSchema, refusals: Refusals): Rebuilt {
  return new Mender(root, refusals).mend();
}

class Mender {
  private readonly root: JsonSchema;
  private readonly refusals: Refusals;
  private readonly losses: Loss[] = [];

  constructor(root: JsonSchema, refusals: Refusals) {
    this.root = root;
    this.refusals = refusals;
  }

  mend(): Rebuilt {
    const { atRoot, needsStructure } = this.refusals;
    const isRefused = atRoot.some(keyword => this.root[keyword] !== undefined);
    const root = isRefused ? this.oneRoot() : this.root;
    const mended = this.mendSchema(root, '', createResolver(this.root)) as JsonSchema;
    const schema = needsStructure && mended.properties === undefined ? { ...mended, properties: {} } : mended;
    return { schema, losses: this.losses };
  }

  /** The root with everything that applies to it in one. */
  private oneRoot(): JsonSchema {
    const budget = new Budget(MAX_WORK);
    const resolve = createResolver(this.root);
    const made = choose([this.root], new Set(), {
      combine: (schemas, chosen) => combine(schemas, resolve, budget, chosen),
      resolve,
      merges: true,
    });
    const { keywords, rivals, isCut } = made.combined;
    const { [CONDITION]: condition, ...rest } = keywords;
    const words = [...made.words];
    for (const what of made.lost) this.lose('', what);
    if (isCut) this.lose('', 'what is more than a schema should have');
    for (const [keyword, value] of rivals) {
      this.lose('', keyword);
      words.push(wordOf(keyword, value));
    }
    const one: Record<string, unknown> = { ...rest, ...(isObject(condition) && condition), type: 'object' };
    for (const keyword of this.refusals.atRoot) {
      if (one[keyword] === undefined) continue;
      this.lose('', keyword);
      words.push(wordOf(keyword, one[keyword]));
      delete one[keyword];
    }
    for (const keyword of KEPT_AT_ROOT) {
      if (this.root[keyword] !== undefined) one[keyword] = this.root[keyword];
    }
    return withWords(one, words);
  }

  private mendSchema(schema: unknown, path: string, resolve: ResolveReference): unknown {
    if (!isObject(schema)) return typeof schema === 'boolean' ? schema : {};
    const mended: Record<string, unknown> = { ...modernise(schema) };
    const words: string[] = [];
    for (const [keyword, value] of Object.entries(mended)) {
      const right = this.rightValue(keyword, value);
      if (right === value) continue;
      if (right !== undefined) mended[keyword] = right;
      else if (keyword === 'propertyNames' && isAnyName(value)) delete mended[keyword];
      else {
        delete mended[keyword];
        this.lose(path, keyword);
        words.push(wordOf(keyword, value));
      }
    }
    if (typeof mended.$ref === 'string' && !resolve(mended.$ref)) {
      delete mended.$ref;
      this.lose(path, '$ref');
    }
    if (this.refusals.needsStructure && isList(mended.type) && mended.items === undefined) mended.items = {};
    return mapSubschemas(withWords(mended, words), (inside, keyword, key) =>
      this.mendSchema(
        inside,
        `${path}/${keyword}${key === undefined ? '' : `/${pointerPart(key)}`}`,
        resolve,
      ),
    );
  }

  /** The value as it may stand there; `undefined` where none may. */
  private rightValue(keyword: string, value: unknown): unknown {
    if (this.refusals.anywhere.includes(keyword)) return undefined;
    if (keyword === 'pattern' && !this.isTaken(String(value))) return undefined;
    const { atMost, values = Number.POSITIVE_INFINITY } = this.refusals;
    if (keyword === 'enum' && Array.isArray(value) && value.length > values) return undefined;
    const most = atMost[keyword];
    if (most !== undefined && Number(value) > most) return undefined;
    if (keyword === 'required' || keyword === 'type') {
      if (!Array.isArray(value)) return value;
      const once = [...new Set(value)];
      if (keyword === 'type' && once.length === 0) return undefined;
      return once.length === value.length ? value : once;
    }
    return SHAPES.get(keyword)?.(value) === false ? undefined : value;
  }

  private isTaken(pattern: string): boolean {
    return isPattern(pattern) && (this.refusals.lookaround || !LOOKAROUND.test(pattern));
  }

  private lose(path: string, what: string): void {
    this.losses.push({ path, what });
  }
}

/**
 * Leaves out references to what is no longer where they look for it, and answers where they stood. `isRenamed` says that the root has members
 * of other names than the server's: then it can stand for nothing inside of it.
 */
export function withoutBrokenReferences(root: JsonSchema, isRenamed: boolean): Rebuilt {
  const resolve = createResolver(root);
  const losses: Loss[] = [];
  const check = (inside: unknown, path: string): unknown => {
    if (!isObject(inside)) return inside;
    const { $ref, ...rest } = inside;
    const target = typeof $ref === 'string' ? resolve($ref) : undefined;
    const isBroken = $ref !== undefined && (!target || (isRenamed && target === root));
    if (isBroken) losses.push({ path, what: '$ref' });
    return mapSubschemas(isBroken ? rest : inside, (one, keyword, key) =>
      check(one, `${path}/${keyword}${key === undefined ? '' : `/${pointerPart(key)}`}`),
    );
  };
  return { schema: check(root, '') as JsonSchema, losses };
}

/** What says nothing of the value itself. */
const KEPT_AT_ROOT = ['$schema', '$id', '$defs', 'definitions', '$comment'];

const LOOKAROUND = /(?<!\\)(?:\\\\)*\(\?<?[=!]/;

type Shape = (value: unknown) => boolean;

const isText: Shape = value => typeof value === 'string';
const isNumber: Shape = value => typeof value === 'number';
const isCount: Shape = value => Number.isInteger(value) && Number(value) >= 0;
const isFlag: Shape = value => typeof value === 'boolean';
const isFilled: Shape = value => Array.isArray(value) && value.length > 0;
const isNames: Shape = value =>
  isObject(value) && Object.values(value).every(one => Array.isArray(one) && one.every(isText));

/** Keywords that the meta-schema of 2020-12 says something of, besides those that every tool is checked for. */
const SHAPES = new Map<string, Shape>([
  ...['title', 'description', '$comment', 'format', 'contentEncoding', 'contentMediaType'].map(one),
  ...['$schema', '$dynamicRef'].map(one),
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'].map((keyword): [string, Shape] => [
    keyword,
    isNumber,
  ]),
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'].map(count),
  ...['minContains', 'maxContains'].map(count),
  ...['uniqueItems', 'deprecated', 'readOnly', 'writeOnly'].map((keyword): [string, Shape] => [
    keyword,
    isFlag,
  ]),
  ...['allOf', 'anyOf', 'oneOf', 'prefixItems'].map((keyword): [string, Shape] => [keyword, isFilled]),
  ['multipleOf', value => isNumber(value) && Number(value) > 0],
  ['examples', Array.isArray],
  ['dependentRequired', isNames],
  ['$id', value => isText(value) && /^[^#]*#?$/.test(String(value))],
  ['$anchor', value => /^[A-Za-z_][-A-Za-z0-9._]*$/.test(String(value))],
  ['$dynamicAnchor', value => /^[A-Za-z_][-A-Za-z0-9._]*$/.test(String(value))],
]);

function one(keyword: string): [string, Shape] {
  return [keyword, isText];
}

function count(keyword: string): [string, Shape] {
  return [keyword, isCount];
}

/** Names are texts anyway. */
function isAnyName(schema: unknown): boolean {
  return (
    schema === true ||
    (isObject(schema) && Object.keys(schema).every(keyword => keyword === 'type' && schema.type === 'string'))
  );
}

function isList(type: unknown): boolean {
  return [type].flat().includes('array');
}

function isPattern(pattern: string): boolean {
  return ['u', ''].some(flags => {
    try {
      new RegExp(pattern, flags);
      return true;
    } catch {
      return false;
    }
  });
}

function withWords(schema: JsonSchema, words: readonly string[]): JsonSchema {
  if (words.length === 0) return schema;
  return { ...schema, description: described(schema.description, words) };
}

function pointerPart(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
