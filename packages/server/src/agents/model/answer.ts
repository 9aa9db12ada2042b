import {
  InvalidResponseDataError,
  type LanguageModelV4StreamPart,
  type LanguageModelV4Usage,
  type SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import type { AnswerPart, ModelFinish, ModelUsage, ProviderMeta } from './model.ts';

/** Of one answer: its texts, thoughts and arguments, and what the provider adds for itself. The journal of the turn keeps all of it. */
const MAX_CHARACTERS = 1_000_000;
const MAX_PARTS = 1_000;
const MAX_CALLS = 64;
/** Of the arguments of one call. */
const MAX_INPUT = 200_000;
/** Of the name of a tool and the id of a call. No provider writes longer ones. */
const MAX_NAME = 200;

/** The answer is none that can be used, and asking again would not mend it. */
export class UnusableAnswer extends Error {
  /** `why` follows "its answer ". */
  constructor(why: string) {
    super(why);
    this.name = 'UnusableAnswer';
  }
}

/** The provider says in the middle of its answer that it failed: `cause` is what it said. */
export class FailedAnswer extends Error {
  constructor(cause: unknown) {
    super('the provider failed while it answered', { cause });
    this.name = 'FailedAnswer';
  }
}

/** The answer broke off, or the provider calls it broken: asked again, the model may do better. */
export class BrokenAnswer extends Error {
  readonly how: 'cut' | 'malformed-call';
  constructor(how: 'cut' | 'malformed-call') {
    super('the answer is not whole');
    this.name = 'BrokenAnswer';
    this.how = how;
  }
}

export interface WholeAnswer {
  readonly parts: readonly AnswerPart[];
  readonly finish: ModelFinish;
}

type Writing = { -readonly [K in keyof WrittenPart]: WrittenPart[K] };
type WrittenPart = Extract<AnswerPart, { text: string }>;

/** One answer while it comes in: every limit is looked at before more is kept. */
export class AnswerInProgress {
  /** `undefined` while the provider has said nothing of it. */
  usage: ModelUsage | undefined;

  private readonly parts: AnswerPart[] = [];
  /** Texts and thoughts that are being written, by the provider's id of them. */
  private readonly open = new Map<string, Writing>();
  /** How much of the arguments of each call has come. */
  private readonly inputs = new Map<string, number>();
  private readonly callIds = new Set<string>();
  private readonly onText: (delta: string) => void;
  private characters = 0;
  private finish: { readonly unified: string; readonly raw: string | undefined } | undefined;

  constructor(onText: (delta: string) => void) {
    this.onText = onText;
  }

  /** Throws `UnusableAnswer`, `FailedAnswer` or `BrokenAnswer`. */
  add(part: LanguageModelV4StreamPart): void {
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start': {
        const type = part.type === 'text-start' ? 'text' : 'reasoning';
        const written: Writing = { type, text: '' };
        this.keepMeta(written, part.providerMetadata);
        this.keep(written);
        this.open.set(`${type} ${part.id}`, written);
        return;
      }
      case 'text-delta':
        this.write(`text ${part.id}`, part.delta, part.providerMetadata);
        this.onText(part.delta);
        return;
      case 'reasoning-delta':
        this.write(`reasoning ${part.id}`, part.delta, part.providerMetadata);
        return;
      case 'text-end':
        this.write(`text ${part.id}`, '', part.providerMetadata);
        return;
      case 'reasoning-end':
        this.write(`reasoning ${part.id}`, '', part.providerMetadata);
        return;
      case 'tool-input-delta':
        this.writeInput(part.id, part.delta.length);
        return;
      case 'tool-call':
        this.addCall(part);
        return;
      case 'finish':
        this.finish = part.finishReason;
        this.usage = usageOf(part.usage);
        return;
      case 'error':
        throw endedTooSoon(part.error) ? new BrokenAnswer('cut') : new FailedAnswer(part.error);
    }
  }

  /** What came, when it is whole. Throws `BrokenAnswer` when it is not. */
  end(): WholeAnswer {
    const { finish, parts } = this;
    // Each package says in its own way that the stream ended too soon; with a reason of the provider's own it is a call that Gemini could not write.
    if (!finish || finish.unified === 'interrupted') throw new BrokenAnswer('cut');
    if (finish.unified === 'error') throw new BrokenAnswer(finish.raw ? 'malformed-call' : 'cut');
    const said = parts.filter(
      part => part.type === 'tool-call' || part.text !== '' || part.meta !== undefined,
    );
    return { parts: said, finish: finishOf(finish.unified, this.callIds.size > 0) };
  }

  private addCall(part: Extract<LanguageModelV4StreamPart, { type: 'tool-call' }>): void {
    // What a provider runs itself is no call of ours, and nothing asks it to.
    if (part.providerExecuted) return;
    if (this.callIds.size === MAX_CALLS)
      throw new UnusableAnswer(`calls more than ${MAX_CALLS} tools at once`);
    this.writeInput(part.toolCallId, part.input.length - (this.inputs.get(part.toolCallId) ?? 0));
    const name = storable(part.toolName);
    const callId = this.newCallId(part.toolCallId);
    const call: Extract<AnswerPart, { type: 'tool-call' }> = {
      type: 'tool-call',
      callId,
      name,
      input: part.input,
    };
    const meta = this.metaOf(part.providerMetadata);
    this.keep(meta ? { ...call, meta } : call);
  }

  private writeInput(id: string, characters: number): void {
    const length = (this.inputs.get(id) ?? 0) + characters;
    if (length > MAX_INPUT)
      throw new UnusableAnswer(`has a call with more than ${MAX_INPUT} characters of arguments`);
    this.inputs.set(id, length);
    this.count(characters);
  }

  /** Some servers give calls no id, or all the same one. */
  private newCallId(given: string): string {
    const id = storable(given) || 'call';
    let callId = id;
    for (let n = this.callIds.size; this.callIds.has(callId); n += 1) callId = `${id}-${n}`;
    this.callIds.add(callId);
    return callId;
  }

  private keep(part: AnswerPart): void {
    if (this.parts.length === MAX_PARTS) throw new UnusableAnswer(`has more than ${MAX_PARTS} parts`);
    this.parts.push(part);
  }

  private write(id: string, delta: string, meta: SharedV4ProviderMetadata | undefined): void {
    const written = this.open.get(id);
    if (!written) return;
    this.count(delta.length);
    written.text += delta;
    this.keepMeta(written, meta);
  }

  private keepMeta(written: Writing, found: SharedV4ProviderMetadata | undefined): void {
    const meta = this.metaOf(found);
    // What comes later, such as the signature at the end of a thought, stands beside what came before.
    if (meta) written.meta = mergedMeta(written.meta, meta);
  }

  private metaOf(found: SharedV4ProviderMetadata | undefined): ProviderMeta | undefined {
    if (!found) return undefined;
    const json = JSON.stringify(found);
    this.count(json.length);
    // As the journal will give it back.
    return JSON.parse(json);
  }

  private count(characters: number): void {
    this.characters += characters;
    if (this.characters > MAX_CHARACTERS)
      throw new UnusableAnswer(`is longer than ${MAX_CHARACTERS} characters`);
  }
}

/** A name or an id of a model's, as every store keeps it. */
function storable(text: string): string {
  return text.slice(0, MAX_NAME).replaceAll('\0', '').toWellFormed();
}

/** How the package for compatible servers says it. */
function endedTooSoon(error: unknown): boolean {
  return InvalidResponseDataError.isInstance(error) && error.data === undefined;
}

function mergedMeta(before: ProviderMeta | undefined, now: ProviderMeta): ProviderMeta {
  if (!before) return now;
  const merged: Record<string, Readonly<Record<string, unknown>>> = { ...before };
  for (const [provider, members] of Object.entries(now))
    merged[provider] = { ...before[provider], ...members };
  return merged;
}

function finishOf(unified: string, calls: boolean): ModelFinish {
  switch (unified) {
    case 'length':
    case 'content-filter':
      return unified;
    case 'stop':
    case 'tool-calls':
      // Some servers call tools and say that they just stopped.
      return calls ? 'tool-calls' : 'stop';
    default:
      return calls ? 'tool-calls' : 'other';
  }
}

function usageOf({ inputTokens, outputTokens }: LanguageModelV4Usage): ModelUsage | undefined {
  if (inputTokens.total === undefined && outputTokens.total === undefined) return undefined;
  return {
    inputTokens: tokens(inputTokens.total),
    outputTokens: tokens(outputTokens.total),
    ...(inputTokens.cacheRead && { cacheReadTokens: tokens(inputTokens.cacheRead) }),
    ...(outputTokens.reasoning && { reasoningTokens: tokens(outputTokens.reasoning) }),
  };
}

/** What a server says it used is multiplied with a price. */
function tokens(said: number | undefined): number {
  return said !== undefined && Number.isFinite(said) && said > 0 ? Math.round(said) : 0;
}
