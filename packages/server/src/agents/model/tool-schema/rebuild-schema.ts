import { Budget } from '../../../connections/tool/flatten-schema.ts';
import {
  createResolver,
  type JsonSchema,
  type ResolveReference,
} from '../../../connections/tool/json-schema.ts';
import { isObject } from '../../../kernel/json.ts';
import { choose, type Settled } from './choices.ts';
import { type Combined, combine } from './combine-schemas.ts';
import { limitsOf } from './limits.ts';
import { itemsOf } from './list-items.ts';
import { SIMPLE, typesOf, type Variant, variantsOf } from './value-types.ts';
import { brief, described, wordOf } from './words.ts';

/** How much of JSON Schema a provider takes that takes only some of it; `anyOf` is part of it, references are not. */
export interface Subset {
  /** Keywords that stay, by the type they are about. */
  readonly limits: Readonly<Record<string, readonly string[]>>;
  readonly formats: Readonly<Record<string, readonly string[]>>;
  /** The largest numbers that stay, by keyword. */
  readonly atMost: Readonly<Record<string, number>>;
  readonly defaults: boolean;
  /** May an empty text be one of the values? */
  readonly emptyTexts: boolean;
  /** May a schema have no type? */
  readonly untyped: boolean;
}

/** Something of a schema that its provider does not take. */
export interface Loss {
  /** JSON pointer into the schema as the server wrote it. */
  readonly path: string;
  /** A keyword, or a phrase. */
  readonly what: string;
}

export interface Rebuilt {
  readonly schema: JsonSchema;
  readonly losses: readonly Loss[];
}

/** Takes down what of a schema is lost, and the words that are left for it. */
export interface Notes {
  lose(what: string, word?: string): void;
}

/** The root is level 0, its properties are level 1. */
const MAX_LEVEL = 6;
/** Keywords, and what stands directly in them, each as often as it applies to a value. */
const MAX_WORK = 100_000;
/** Characters of the names, values and texts of the result: what is referred to often is written often. */
const MAX_TEXT = 300_000;
/** Schemas of the result. */
const MAX_NODES = 1_500;
/** How often a schema may stand inside of itself. */
const MAX_TURNS = 1;
/** Of a title or a default, in characters. */
const MAX_SHORT = 1_000;

/** A schema of the result that is to be written. */
interface Node {
  readonly into: Record<string, unknown>;
  readonly schemas: readonly unknown[];
  /** Choices that were made. */
  readonly settled: ReadonlySet<unknown>;
  readonly path: string;
  readonly level: number;
  readonly above: Above | undefined;
  /** In place of what the schemas say. */
  readonly description?: string | undefined;
}

/** The schemas around a schema, the nearest first. */
interface Above {
  readonly parts: ReadonlySet<JsonSchema>;
  readonly above: Above | undefined;
}

/** A node with what is known of it. */
interface Known {
  readonly node: Node;
  readonly combined: Combined;
  readonly notes: Notes & { readonly words: readonly string[] };
}

/**
 * The schema of an object in the few keywords of a subset: references are replaced by what they stand for, `allOf` is merged, what the
 * subset cannot say stands in the descriptions and in `losses`. What is deeper than level 6, inside of itself or in more than a schema
 * should have, is a field without structure. Takes bounded time whatever the schema.
 */
export function rebuildSchema(root: JsonSchema, subset: Subset): Rebuilt {
  return new Rebuilder(root, subset).rebuild(root);
}

class Rebuilder {
  private readonly resolve: ResolveReference;
  private readonly subset: Subset;
  private readonly work = new Budget(MAX_WORK);
  private readonly text = new Budget(MAX_TEXT);
  private readonly nodes: Node[] = [];
  private readonly losses = new Map<string, Loss>();

  constructor(root: JsonSchema, subset: Subset) {
    this.resolve = createResolver(root);
    this.subset = subset;
  }

  rebuild(root: JsonSchema): Rebuilt {
    const schema: Record<string, unknown> = {};
    const settled = new Set();
    this.nodes.push({ into: schema, schemas: [root], settled, path: '', level: 0, above: undefined });
    // Level by level, so that what is near the root is there when the work is cut off.
    for (const node of this.nodes) this.write(node);
    return { schema, losses: [...this.losses.values()] };
  }

  private write(node: Node): void {
    const made = choose(node.schemas, node.settled, {
      combine: (all, chosen) => combine(all, this.resolve, this.work, chosen),
      resolve: this.resolve,
      merges: node.level === 0 || this.nodes.length >= MAX_NODES,
    });
    const { combined, lost, words } = made;
    const known = { node, combined, notes: this.notesOn(node, words) };
    const { notes } = known;
    if (combined.isCut) notes.lose('what is more than a schema should have');
    for (const what of lost) notes.lose(what);
    for (const [keyword, value] of combined.rivals) {
      notes.lose(keyword, keyword === '$ref' ? undefined : wordOf(keyword, value));
    }
    if (made.alternatives) this.writeAlternatives(known, made);
    else this.writeTypes(known, made);
  }

  private notesOn({ path }: Node, before: readonly string[]): Known['notes'] {
    const words = [...before];
    return {
      words,
      lose: (what, word) => {
        this.losses.set(`${path} ${what}`, { path, what });
        if (word !== undefined) words.push(word);
      },
    };
  }

  /** `anyOf` stands alone: what applies to all of its schemas is said in each. */
  private writeAlternatives(
    { node, combined, notes }: Known,
    { alternatives = [], list, chosen, mayBeNull }: Settled,
  ): void {
    const settled = new Set([...chosen, list]);
    const before = described(node.description ?? combined.keywords.description, notes.words);
    const branches = alternatives.map((branch, index) => {
      const own = combine([branch], this.resolve, this.work).keywords.description;
      const texts = [index === 0 ? before : undefined, own].filter(text => typeof text === 'string');
      const into = {};
      const schemas = [branch, ...node.schemas];
      this.nodes.push({ ...node, into, settled, schemas, description: texts.join('\n') });
      return into;
    });
    node.into.anyOf = mayBeNull ? [...branches, { type: 'null' }] : branches;
  }

  private writeTypes(known: Known, made: Settled): void {
    const { into, level } = known.node;
    const variants = level === 0 ? [rootOf(known)] : variantsOf(made, this.subset, known.notes);
    const [first, ...others] = variants.toSorted(nullLast);
    if (others.length === 0) {
      this.writeVariant(known, into, first!);
      return;
    }
    const main = {};
    this.writeVariant(known, main, first!);
    into.anyOf = [main, ...others.map(variant => this.writeOther(known, variant))];
  }

  /** What is about values of any type is said with the first one. */
  private writeOther(known: Known, variant: Variant): object {
    const into: Record<string, unknown> = {};
    const notes = this.notesOn(known.node, []);
    this.writeValues({ ...known, notes }, into, variant, true);
    const description = described(undefined, notes.words);
    return description === undefined ? into : { ...into, description };
  }

  private writeVariant(known: Known, into: Record<string, unknown>, variant: Variant): void {
    this.writeValues(known, into, variant, false);
    const { node, combined, notes } = known;
    const { title, default: value, description: own } = combined.keywords;
    if (typeof title === 'string' && this.isShort(title)) into.title = title;
    const isKept = this.subset.defaults && value !== undefined && this.isShort(value);
    if (isKept) into.default = value;
    // That nothing is what is not given need not be said.
    const isSaid = !isKept && value !== undefined && value !== null;
    const words = isSaid ? [...notes.words, wordOf('default', value)] : notes.words;
    const description = described(node.description ?? own, words);
    if (description === undefined) return;
    if (this.text.spend(description.length)) into.description = description;
    else notes.lose('description');
  }

  private isShort(value: unknown): boolean {
    const { length } = brief(value, MAX_SHORT);
    return length <= MAX_SHORT && this.text.spend(length);
  }

  private writeValues(
    known: Known,
    into: Record<string, unknown>,
    { type, values, isOpen }: Variant,
    isOther: boolean,
  ): void {
    const { combined, notes } = known;
    if (type !== 'any') into.type = type;
    if (values && this.text.spend(lengthOf(values))) into.enum = values;
    else if (values) notes.lose('enum', wordOf('enum', values));
    Object.assign(into, limitsOf(combined.keywords, type, { subset: this.subset, isOther, notes }));
    if (type === 'object') this.writeMembers(known, into);
    else if (type === 'array' && isOpen) into.items = { anyOf: SIMPLE.map(one => ({ type: one })) };
    else if (type === 'array') this.writeItems(known, into);
  }

  private writeMembers(known: Known, into: Record<string, unknown>): void {
    const { node, combined, notes } = known;
    const { required, additionalProperties: others } = combined.keywords;
    const members = membersOf(combined.keywords);
    const asked = [...new Set([required].flat())].filter(name => members.has(String(name)));
    const isOpen = isObject(others) && Object.keys(others).length > 0;
    if (members.size > 0 || isOpen) {
      const isTooMuch = !this.text.spend(lengthOf([...members.keys(), ...asked]));
      if (isTooMuch || !this.mayGoInside(known)) {
        notes.lose('what is inside', 'its members are not described');
        return;
      }
    }
    if (members.size > 0 || node.level === 0) {
      into.properties = Object.fromEntries(
        [...members].map(([name, schema]) => [
          name,
          this.inside(known, [schema], `properties/${pointerPart(name)}`),
        ]),
      );
    }
    if (asked.length > 0) into.required = asked;
    if (isOpen) into.additionalProperties = this.inside(known, [others], 'additionalProperties');
  }

  private writeItems(known: Known, into: Record<string, unknown>): void {
    const all = itemsOf(known.combined.keywords, known.notes);
    if (this.mayGoInside(known)) {
      into.items = this.inside(known, all.length === 1 ? all : [{ anyOf: all }], 'items');
      return;
    }
    known.notes.lose('what is inside');
    const types = typesOf(combine(all, this.resolve, this.work).keywords) ?? [];
    into.items = { type: types.length === 1 && types[0] !== 'array' ? types[0] : 'string' };
  }

  private mayGoInside({ node: { level, above }, combined: { parts } }: Known): boolean {
    if (level >= MAX_LEVEL || this.nodes.length >= MAX_NODES) return false;
    let turns = 0;
    for (let around = above; around; around = around.above) {
      const { parts: outer } = around;
      if ([...parts].some(part => outer.has(part))) turns++;
    }
    return turns <= MAX_TURNS;
  }

  /** The schema of a value in the value, which is written later. */
  private inside({ node, combined }: Known, schemas: readonly unknown[], at: string): object {
    const into = {};
    const above = { parts: combined.parts, above: node.above };
    const path = `${node.path}/${at}`;
    this.nodes.push({ into, schemas, settled: new Set(), path, level: node.level + 1, above });
    return into;
  }
}

/** Arguments are an object, whatever else is said of them. */
function rootOf({ combined, notes }: Known): Variant {
  const { enum: values } = combined.keywords;
  if (values !== undefined) notes.lose('enum', wordOf('enum', values));
  return { type: 'object' };
}

function nullLast(one: Variant, other: Variant): number {
  return Number(one.type === 'null') - Number(other.type === 'null');
}

/** What may be given, also what is required and not described. */
function membersOf({ properties, required }: JsonSchema): ReadonlyMap<string, unknown> {
  const named = isObject(properties) ? properties : {};
  const members = new Map(Object.entries(named).filter(([, schema]) => schema !== false));
  for (const name of [required].flat()) {
    if (typeof name === 'string' && !Object.hasOwn(named, name)) members.set(name, {});
  }
  return members;
}

/** In characters. */
function lengthOf(values: readonly unknown[]): number {
  return values.reduce<number>((sum, value) => sum + String(value).length, 0);
}

function pointerPart(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
