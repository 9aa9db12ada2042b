import {
  data,
  type FullAnswer,
  type JsonObject,
  type SeenMessage,
  textIn,
  toolText,
  type Wire,
} from './wire.ts';

const FINISH_REASONS: Readonly<Record<FullAnswer['finish'], string>> = {
  stop: 'stop',
  'tool-calls': 'tool_calls',
  length: 'length',
  'content-filter': 'content_filter',
  refusal: 'stop',
};

/** OpenAI's Chat Completions, as a stream: what most other servers speak, too. */
export const chatCompletions: Wire = {
  name: 'chat-completions',
  path: /\/chat\/completions$/,

  read(body) {
    const instructs = ({ role }: JsonObject) => role === 'system' || role === 'developer';
    return {
      model: body.model,
      system: body.messages
        .filter(instructs)
        .map(({ content }: JsonObject) => textIn(content))
        .join('\n'),
      messages: body.messages.filter((message: JsonObject) => !instructs(message)).map(readMessage),
      tools: (body.tools ?? []).map((tool: JsonObject) => ({
        name: tool.function.name,
        description: tool.function.description,
        schema: tool.function.parameters,
      })),
    };
  },

  write({ text, reasoning, calls, finish, usage }, model) {
    const chunk = (delta: object, finish_reason: string | null = null) =>
      data({ ...head(model), choices: [{ index: 0, delta, finish_reason }] });
    const said = finish === 'refusal' ? 'refusal' : 'content';
    return {
      begin: chunk({ role: 'assistant', content: '' }),
      pieces: [
        ...reasoning.map(each => chunk({ reasoning_content: each })),
        ...text.map(each => chunk({ [said]: each })),
        ...calls.map(({ id, name, raw }, index) =>
          chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: raw } }] }),
        ),
      ],
      end: [
        chunk({}, FINISH_REASONS[finish]),
        data({
          ...head(model),
          choices: [],
          usage: {
            prompt_tokens: usage.inputTokens,
            completion_tokens: usage.outputTokens,
            total_tokens: usage.inputTokens + usage.outputTokens,
            prompt_tokens_details: { cached_tokens: usage.cacheReadTokens ?? 0 },
            completion_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
          },
        }),
        'data: [DONE]\n\n',
      ].join(''),
    };
  },

  failure: (status, message) => ({ error: { message, type: 'error', param: null, code: String(status) } }),
  failed: message => data({ error: { message, type: 'server_error', param: null, code: null } }),
};

const head = (model: string) => ({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 0, model });

function readMessage(message: JsonObject): SeenMessage {
  const text = textIn(message.content);
  if (message.role === 'tool') return { role: 'tool', id: message.tool_call_id, ...toolText(text) };
  if (message.role === 'user') return { role: 'user', text };
  const calls = (message.tool_calls ?? []).map((call: JsonObject) => ({
    id: call.id,
    name: call.function.name,
    input: JSON.parse(call.function.arguments),
  }));
  return { role: 'assistant', text, calls };
}
