import { isObject, parseJson } from '../../kernel/json.ts';
import { granted, type Outcome, refused } from '../../kernel/result.ts';
import { describePart, type ResultPart } from './describe-part.ts';

import { faultIn, storable, storableValue } from './json-value.ts';

/** What a call came to, as plain JSON. All of it is the server's word and untrusted. */
export interface ToolResult {
  /** Any JSON value; not there when the server sent none. */
  readonly structured?: unknown;
  /** The texts, one below the other, and each part that is no text as a line in its place (W-48). */
  readonly text: string;
  /** The lines of `text` that stand for parts which are no texts. */
  readonly described: readonly string[];
  /** The tool says that it failed (W-47). That is a result: the call has arrived and was answered. */
  readonly isError: boolean;
}

export interface ResultRefusal {
  readonly reason: 'PROTOCOL_ERROR' | 'UNSUPPORTED_RESULT';
  /** Reads on after "its result". */
  readonly message: string;
}

const MAX_DEPTH = 100;
const MAX_PARTS = 10_000;

/**
 * Reads the result of `tools/call` as a server sent it. What is malformed is refused: only what a server did send is a success, and an
 * empty one only when it sent an empty list (field-reports 2.1).
 */
export function readToolResult(raw: unknown): Outcome<ToolResult, ResultRefusal> {
  if (!isObject(raw)) return malformed('is not an object');
  const { resultType = 'complete', structuredContent: structured, isError } = raw;
  if (resultType !== 'complete') {
    return refused({ reason: 'UNSUPPORTED_RESULT', message: 'asks for something that cannot be given' });
  }
  // Some servers write a member that they do not have as `null`.
  const isSaid = structured !== undefined && structured !== null;
  const content = raw.content ?? (isSaid ? [] : undefined);
  if (!Array.isArray(content)) return malformed('has no list of content');
  if (isError !== undefined && isError !== null && typeof isError !== 'boolean') {
    return malformed('does not say whether it is an error');
  }
  const isStorable = !isSaid || faultIn(structured, MAX_DEPTH) === undefined;
  const fault = isStorable ? undefined : faultIn(structured, MAX_DEPTH, () => true);
  if (fault !== undefined) return malformed(`has structured content that ${fault}`);
  const parts = readParts(content);
  if (typeof parts === 'string') return malformed(parts);
  return granted({
    ...(isSaid && { structured: isStorable ? structured : storableValue(structured) }),
    text: storable(parts.map(textOf).join('\n')),
    described: parts.flatMap(({ line }) => (line === undefined ? [] : [storable(line)])),
    isError: isError === true,
  });
}

/** The parts, or why they are malformed. */
function readParts(content: readonly unknown[]): readonly ResultPart[] | string {
  const parts: ResultPart[] = [];
  for (const [index, part] of content.slice(0, MAX_PARTS).entries()) {
    const described = describePart(part);
    if (!described) return `has a malformed part at ${index + 1}`;
    parts.push(described);
  }
  const more = content.length - MAX_PARTS;
  return more > 0 ? [...parts, { line: `[${more} more parts]` }] : parts;
}

function malformed(message: string): { readonly ok: false; readonly refusal: ResultRefusal } {
  return refused({ reason: 'PROTOCOL_ERROR', message });
}

function textOf({ line, text }: ResultPart): string {
  return [line, text].filter(one => one !== undefined).join('\n');
}

/** The result as a value to work with: what is structured, else what a text that is JSON says, else the text. */
export function resultValue({ structured, text }: Pick<ToolResult, 'structured' | 'text'>): unknown {
  if (structured !== undefined) return structured;
  if (!/^\s*[[{]/.test(text)) return text;
  const json = parseJson(text, { maxDepth: MAX_DEPTH });
  return json.ok ? json.value : text;
}
