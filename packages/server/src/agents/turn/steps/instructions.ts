import type { z } from 'zod';
import { PlatformError } from '../../../kernel/errors.ts';
import type { propertyInstructions } from '../../document/property.ts';
import { type DataPath, knownDataPath, readDataPath } from '../../language/data-path.ts';
import type { StepTools, TurnMemory } from '../../step/step.ts';
import type { PlacedText } from './check-templates.ts';
import { fillJson, HeldValues } from './held-values.ts';
import { inSlices, type Sliced } from './in-slices.ts';
import type { TemplateCache } from './template.ts';
import { withValue } from './turn-data.ts';

type PropertyInstruction = z.output<typeof propertyInstructions>[number];

/** An instruction with its paths read. */
export interface Instruction {
  readonly source: PropertyInstruction;
  readonly from: DataPath | undefined;
  readonly to: DataPath | undefined;
}

/** What instructions are run on. */
export interface InstructionTurn {
  readonly memory: TurnMemory;
  readonly tools: StepTools;
  readonly templates: TemplateCache;
  /** What templates and paths reach. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** Prepares instructions of a document that was parsed. */
export function compileInstructions(instructions: readonly PropertyInstruction[]): Instruction[] {
  return instructions.map(source => ({
    source,
    from: source.fromObjectPath === undefined ? undefined : knownDataPath(source.fromObjectPath),
    to: source.toObjectPath === undefined ? undefined : knownDataPath(source.toObjectPath),
  }));
}

/** The templates of instructions, for `checkTemplates`. */
export function* instructionTexts(
  instructions: readonly PropertyInstruction[],
  path: string,
  names?: readonly string[],
): Generator<PlacedText> {
  for (const [index, { valueString }] of instructions.entries()) {
    if (valueString !== undefined) yield [valueString, `${path}[${index}].valueString`, names];
  }
}

/** A value that is to be kept in the vault. */
export interface Secret {
  readonly name: string;
  readonly value: string;
}

/**
 * Sets properties, in order; each instruction sees what those before it have set. What is not there is not set. Returns the
 * names of the properties that were set, and the secrets among them, which `keepSecrets` is for.
 */
export function* runInstructions(
  instructions: readonly Instruction[],
  turn: InstructionTurn,
): Sliced<{ readonly names: string[]; readonly secrets: Secret[] }> {
  const names: string[] = [];
  const secrets: Secret[] = [];
  const { memory } = turn;
  for (const { source, from, to } of instructions) {
    const { name, scope, override, visibility } = source;
    if (!override && readDataPath(memory.properties, to?.slice(1) ?? [name]) !== undefined) continue;
    const value = yield* valueFor(source, from, turn);
    if (value === undefined) continue;
    if (scope === 'secret') {
      secrets.push({ name, value: secretOf(name, value, memory) });
      names.push(name);
      continue;
    }
    const [set, whole] = to === undefined ? [name, value] : within(memory.properties, to, value);
    memory.setProperty(set, whole, scope, visibility);
    names.push(set);
  }
  return { names, secrets };
}

/** Throws a `PlatformError` where only what stands for the secret is left. */
function secretOf(name: string, value: unknown, { input, inputIsSecret }: TurnMemory): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (!inputIsSecret || !text.includes(input!)) return text;
  throw new PlatformError(
    'unavailable',
    `the secret for "${name}" is not there any more: what is said as a secret is kept before a turn waits or acts, or not at all, and templates know it as input only; let the person say it again.`,
  );
}

/** Keeps secrets in the vault, in place of those the conversation had; the properties are references to them. */
export async function keepSecrets(
  secrets: readonly Secret[],
  memory: TurnMemory,
  tools: StepTools,
): Promise<void> {
  for (const { name, value } of secrets) {
    memory.setProperty(name, await tools.keepSecret(name, value), 'conversation');
  }
}

/** Runs instructions, keeps the secrets among what they set, and notes the names. */
export async function instruct(instructions: readonly Instruction[], turn: InstructionTurn): Promise<void> {
  if (instructions.length === 0) return;
  const { memory, tools } = turn;
  const { names, secrets } = await inSlices(runInstructions(instructions, turn), tools.budget);
  await keepSecrets(secrets, memory, tools);
  if (names.length > 0) memory.remember('properties:set', names);
}

function* valueFor(
  source: PropertyInstruction,
  from: DataPath | undefined,
  { data, memory, templates, tools }: InstructionTurn,
): Sliced<unknown> {
  // A secret that the person said is there for what becomes a secret, and for nothing else.
  const { secretInput } = memory;
  const isSecret = source.scope === 'secret' && secretInput !== undefined;
  const seen = isSecret ? withValue(data, 'input', secretInput) : data;
  if (from !== undefined) return copyOf(readDataPath(seen, from), tools);
  const { valueString, valueInt, valueFloat, valueBoolean, valueObject, valueList } = source;
  if (valueString === undefined) return valueInt ?? valueFloat ?? valueBoolean ?? valueObject ?? valueList;
  const turn = { now: tools.clock.now(), budget: tools.budget };
  if (!source.convertToObject) return yield* templates.render(valueString, seen, turn);
  const held = new HeldValues();
  const text = yield* templates.render(valueString, seen, { ...turn, hold: held.hold });
  return parseOrKeep(fillJson(text, [held]));
}

/** About as many characters are copied in a step as are compared with a word. */
const CHARACTERS_A_STEP = 10;

/** What steps after this one change, such as the output, does not change the property. */
function copyOf(value: unknown, { budget }: StepTools): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const text = JSON.stringify(value);
  budget.work(text.length / CHARACTERS_A_STEP);
  return JSON.parse(text) as unknown;
}

function parseOrKeep(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** The property a path leads into, with the value at its place: the rest of the property is as it was. */
function within(
  properties: Readonly<Record<string, unknown>>,
  [, name, ...rest]: DataPath,
  value: unknown,
): readonly [name: string, whole: unknown] {
  const property = String(name);
  return [property, put(Object.hasOwn(properties, property) ? properties[property] : undefined, rest, value)];
}

/** A list grows by one entry at the most: a number far beyond its end would make a list of nothing. */
function put(holder: unknown, [segment, ...rest]: DataPath, value: unknown): unknown {
  if (segment === undefined) return value;
  if (typeof segment === 'number') {
    const list = Array.isArray(holder) ? [...(holder as unknown[])] : [];
    const at = Math.min(segment, list.length);
    list[at] = put(list[at], rest, value);
    return list;
  }
  const object: Record<string, unknown> = isPlain(holder) ? { ...holder } : {};
  const inner = Object.hasOwn(object, segment) ? object[segment] : undefined;
  Object.defineProperty(object, segment, {
    value: put(inner, rest, value),
    enumerable: true,
    configurable: true,
    writable: true,
  });
  return object;
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
