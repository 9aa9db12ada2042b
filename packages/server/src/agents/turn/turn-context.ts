import type { OutputItem } from '@patchbay/contract/operations/conversation';
import { z } from 'zod';
import { PlatformError } from '../../kernel/errors.ts';
import { expressionsField, listOf } from '../document/fields.ts';
import { MAX_BUBBLES, MAX_QUICK_REPLIES, outputItem, quickReplyField } from '../document/output.ts';
import { parseStrictly } from '../document/parse-document.ts';
import type { ContextType, QuickReply } from '../step/step.ts';

/** What comes with a message, as the steps of its turn get it. */
export interface TurnContext {
  readonly values: Readonly<Record<string, unknown>>;
  readonly types: Readonly<Record<string, ContextType>>;
  /** What the context has the agent say, whatever its rules decide. */
  readonly injected: Injected;
}

export interface Injected {
  readonly output: readonly OutputItem[];
  readonly quickReplies: readonly QuickReply[];
}

/** Names the platform keeps for what it tells agents itself, and all names that begin with one (platform.md 1.7). */
const RESERVED = [
  'groupId',
  'groupConversationId',
  'groupDepth',
  'groupTranscript',
  'dynamicAgentConfig',
  'dynamicCreatedAgentIds',
  'delegationDepth',
];

const MAX_KEYS = 100;
const MAX_NAME = 200;
const MAX_CHARACTERS = 200_000;

const typedValue = z.strictObject({
  type: z.enum(['string', 'expressions', 'object', 'array']),
  value: z.unknown(),
});

/** What a value of each type may be. */
const VALUES = {
  string: z.union([z.string(), z.number(), z.boolean()]).transform(String),
  expressions: z.union([expressionsField, z.literal('')]),
  object: z.looseObject({}),
  array: z.array(z.unknown()),
} satisfies Record<ContextType, z.ZodType>;

/** A text is short for a bubble of it; of alternatives the first is said. */
function toItem(value: unknown): unknown {
  if (typeof value === 'string') return { type: 'text', text: value };
  const { valueAlternatives } = (value ?? {}) as { valueAlternatives?: unknown };
  return Array.isArray(valueAlternatives) ? valueAlternatives[0] : value;
}

function oneOrMore<T extends z.ZodType>(one: T, max: number) {
  return z.preprocess(value => (Array.isArray(value) ? value : [value]), listOf(one, max));
}

const injectedOutput = oneOrMore(z.preprocess(toItem, outputItem), MAX_BUBBLES);
const injectedReplies = oneOrMore(
  z.preprocess(value => (typeof value === 'string' ? { value } : value), quickReplyField),
  MAX_QUICK_REPLIES,
);

/**
 * Reads what a caller sends with a message, the one place where reserved names are left out. A value is plain, and then of the
 * type it looks like, or `{type, value}`. Names that begin with `output` or `quickReplies` are also what the agent says.
 * Throws a `PlatformError` of kind `invalid` that names the value.
 */
export function readCallerContext(given: Readonly<Record<string, unknown>> = {}): TurnContext {
  const kept = Object.entries(given).filter(([name]) => !RESERVED.some(word => name.startsWith(word)));
  refuseTooMuch(kept);
  const values: [string, unknown][] = [];
  const types: [string, ContextType][] = [];
  const output: OutputItem[] = [];
  const quickReplies: QuickReply[] = [];
  for (const [name, raw] of kept) {
    const { type, value } = readValue(name, raw);
    values.push([name, value]);
    if (type === undefined) continue;
    types.push([name, type]);
    if (name.startsWith('output')) output.push(...parseStrictly(`context.${name}`, injectedOutput, value));
    if (name.startsWith('quickReplies')) {
      quickReplies.push(...parseStrictly(`context.${name}`, injectedReplies, value));
    }
  }
  return {
    values: Object.fromEntries(values),
    types: Object.fromEntries(types),
    injected: { output, quickReplies },
  };
}

/** The same for the greeting before a message: what the message means, and what is said in answer to it, is not of it. */
export function contextOfGreeting(context: TurnContext): TurnContext {
  const types = Object.entries(context.types).filter(([, type]) => type !== 'expressions');
  return { ...context, types: Object.fromEntries(types), injected: { output: [], quickReplies: [] } };
}

function readValue(name: string, raw: unknown): { type: ContextType | undefined; value: unknown } {
  const typed = typedValue.safeParse(raw);
  if (!typed.success) return { type: typeOf(raw), value: raw };
  const { type, value } = typed.data;
  return { type, value: parseStrictly(`context.${name}`, VALUES[type], value) };
}

/** Nothing is of no type. */
function typeOf(value: unknown): ContextType | undefined {
  if (value === null || value === undefined) return undefined;
  if (Array.isArray(value)) return 'array';
  return typeof value === 'object' ? 'object' : 'string';
}

function refuseTooMuch(entries: readonly (readonly [name: string, value: unknown])[]): void {
  const tooMuch =
    entries.length > MAX_KEYS
      ? `${MAX_KEYS} values`
      : entries.some(([name]) => name.length > MAX_NAME)
        ? `names of ${MAX_NAME} characters`
        : JSON.stringify(entries).length > MAX_CHARACTERS
          ? `${MAX_CHARACTERS} characters`
          : undefined;
  if (tooMuch !== undefined) {
    throw new PlatformError('invalid', `context: may have at most ${tooMuch}; send less with the message.`);
  }
}
