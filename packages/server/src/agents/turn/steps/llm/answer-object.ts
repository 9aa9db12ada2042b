import { isObject, parseJson } from '../../../../kernel/json.ts';
import type { LlmTask } from '../../../document/llm.ts';

const MAX_DEPTH = 20;
const MAX_REPLIES = 20;
const MAX_REPLY_CHARACTERS = 200;

/** An answer that is a JSON object, and what of it is made use of (platform.md 2.6). */
export interface AnswerObject {
  readonly value: Readonly<Record<string, unknown>>;
  /** What is said; `undefined` where an author's schema has no such member. */
  readonly text: string | undefined;
  readonly quickReplies: readonly string[];
}

/** What a model is told that shall answer with an object; empty where it need not. */
export function objectInstruction({ parameters }: LlmTask): string {
  const { convertToObject, responseSchema } = parameters;
  if (!convertToObject) return '';
  const schema = typeof responseSchema === 'string' ? responseSchema : JSON.stringify(responseSchema);
  const fits = responseSchema === undefined ? '' : ` that fits this schema:\n${schema}`;
  return `\n\nAnswer with one JSON object and nothing else, without a code fence${fits}`;
}

/** What a request says of that, for providers that can hold a model to it. */
export function objectRequest({ parameters }: LlmTask): { readonly schema?: object } | undefined {
  const { convertToObject, responseSchema } = parameters;
  if (!convertToObject) return undefined;
  if (responseSchema === undefined) return {};
  if (typeof responseSchema !== 'string') return { schema: responseSchema };
  const read = parseJson(responseSchema, { maxDepth: MAX_DEPTH });
  // Some authors describe it in words, or show an example.
  return read.ok && isObject(read.value) && typeof read.value.type === 'string' ? { schema: read.value } : {};
}

/** `undefined` for an answer that is no object. */
export function readAnswerObject(answer: string): AnswerObject | undefined {
  const read = parseJson(withoutFence(answer.trim()), { maxDepth: MAX_DEPTH });
  if (!read.ok || !isObject(read.value)) return undefined;
  const { htmlResponseText, quickReplies } = read.value;
  return {
    value: read.value,
    text: typeof htmlResponseText === 'string' ? htmlResponseText : undefined,
    quickReplies: Array.isArray(quickReplies) ? quickReplies.flatMap(replyIn).slice(0, MAX_REPLIES) : [],
  };
}

/** Models without a mode for JSON like to put one around it. */
function withoutFence(answer: string): string {
  const firstLine = answer.indexOf('\n');
  const isFenced = answer.startsWith('```') && answer.endsWith('```') && firstLine > 0;
  return isFenced ? answer.slice(firstLine, -3) : answer;
}

/** The value alone: what choosing it means is for rules to know, not for the model. */
function replyIn(written: unknown): string[] {
  const value = isObject(written) ? written.value : written;
  return typeof value === 'string' && value.trim() !== '' && value.length <= MAX_REPLY_CHARACTERS
    ? [value]
    : [];
}
