import type {
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import { isObject, parseJson } from '../../kernel/json.ts';
import type { AnswerPart, ModelMessage, ModelRequest, ProviderMeta, ToolReply } from './model.ts';
import type { Provider } from './providers.ts';

/**
 * What is said to a model, as the packages of the providers take it. Texts lose halves of surrogate pairs, which some providers refuse; so do they names of tools
 * that a model has made up out of any characters.
 */
export function promptOf(
  { system, messages, tools }: Pick<ModelRequest, 'system' | 'messages' | 'tools'>,
  { takesThoughts }: Pick<Provider, 'takesThoughts'>,
): LanguageModelV4Prompt {
  const known = new Set(tools.map(({ name }) => name));
  const nameOf = (name: string) => (known.has(name) ? name : speakable(name));
  const prompt: LanguageModelV4Prompt = [];
  if (system !== '') prompt.push({ role: 'system', content: system.toWellFormed() });
  // Some providers take only conversations that a person begins.
  if (messages[0]?.role === 'assistant') prompt.push(BEGINNING);
  for (const message of messages) {
    const said = messageOf(takesThoughts ? message : withoutThoughts(message), nameOf);
    // What is empty is refused by some providers and says nothing to any.
    if (said.content.length > 0) prompt.push(said);
  }
  return prompt;
}

const BEGINNING: LanguageModelV4Message = {
  role: 'user',
  content: [{ type: 'text', text: '(The conversation begins.)' }],
};

function withoutThoughts(message: ModelMessage): ModelMessage {
  if (message.role !== 'assistant') return message;
  return { ...message, parts: message.parts.filter(({ type }) => type !== 'reasoning') };
}

type NameOf = (name: string) => string;

/** Every provider takes names of these characters, and of this length. */
function speakable(name: string): string {
  return name.replace(/[^\w-]/g, '_').slice(0, 64) || 'tool';
}

function messageOf(message: ModelMessage, nameOf: NameOf): LanguageModelV4Message {
  switch (message.role) {
    case 'user':
      // A greeting answers nobody.
      if (message.text.trim() === '') return BEGINNING;
      return { role: 'user', content: [{ type: 'text', text: message.text.toWellFormed() }] };
    case 'assistant':
      return {
        role: 'assistant',
        content: message.parts.filter(saysSomething).map(part => partOf(part, nameOf)),
      };
    case 'tool':
      return { role: 'tool', content: message.results.map(reply => replyOf(reply, nameOf)) };
  }
}

type AssistantPart = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'][number];
type ToolPart = Extract<LanguageModelV4Message, { role: 'tool' }>['content'][number];

function saysSomething(part: AnswerPart): boolean {
  // Blanks alone are refused as what is empty is. Of a thought that is kept from us there is only the provider's own text.
  return part.type === 'tool-call' || part.text.trim() !== '' || part.meta !== undefined;
}

function partOf(part: AnswerPart, nameOf: NameOf): AssistantPart {
  const own = part.meta && { providerOptions: optionsOf(part.meta) };
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return { type: part.type, text: part.text.toWellFormed(), ...own };
    case 'tool-call':
      return {
        type: 'tool-call',
        toolCallId: part.callId,
        toolName: nameOf(part.name),
        input: inputOf(part.input),
        ...own,
      };
  }
}

function replyOf({ callId, name, text, isError }: ToolReply, nameOf: NameOf): ToolPart {
  return {
    type: 'tool-result',
    toolCallId: callId,
    toolName: nameOf(name),
    output: { type: isError ? 'error-text' : 'text', value: text.toWellFormed() },
  };
}

/** Every provider takes an object here. Of arguments that no tool is called with, the model sees the text it wrote. */
function inputOf(written: string): Record<string, unknown> {
  const input = readArguments(written);
  return input ? { ...input } : { malformed_arguments: written.toWellFormed() };
}

const MAX_DEPTH = 100;

/** The arguments of a call, from what a model wrote; `undefined` where that is no JSON object, or one that two readers would take for two. */
export function readArguments(written: string): Readonly<Record<string, unknown>> | undefined {
  // So some models call a tool without arguments.
  if (written.trim() === '') return {};
  const json = parseJson(written, { maxDepth: MAX_DEPTH });
  return json.ok && isObject(json.value) ? json.value : undefined;
}

/** It came from the provider's package as JSON, and goes back there only. */
function optionsOf(meta: ProviderMeta): SharedV4ProviderOptions {
  return meta as SharedV4ProviderOptions;
}

/** Characters for a token, where no tokenizer is at hand (platform.md 3.7). */
const CHARACTERS_PER_TOKEN = 4;

/** About how many tokens the messages are. */
export function estimateTokens(messages: readonly ModelMessage[]): number {
  let characters = 0;
  for (const message of messages) characters += lengthOf(message);
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

function lengthOf(message: ModelMessage): number {
  switch (message.role) {
    case 'user':
      return message.text.length;
    case 'assistant':
      return message.parts.reduce(
        (sum, part) =>
          sum + (part.type === 'tool-call' ? part.name.length + part.input.length : part.text.length),
        0,
      );
    case 'tool':
      return message.results.reduce((sum, { name, text }) => sum + name.length + text.length, 0);
  }
}
