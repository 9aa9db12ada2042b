import { type FullAnswer, type JsonObject, type SeenMessage, textIn, type Wire } from './wire.ts';

const STOP_REASONS: Readonly<Record<FullAnswer['finish'], string>> = {
  stop: 'end_turn',
  'tool-calls': 'tool_use',
  length: 'max_tokens',
  'content-filter': 'refusal',
  refusal: 'refusal',
};

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

/** The Messages API, as a stream. */
export const anthropic: Wire = {
  name: 'anthropic',
  path: /\/messages$/,

  read(body) {
    return {
      model: body.model,
      system: textIn(body.system),
      messages: body.messages.flatMap(readMessage),
      tools: (body.tools ?? []).map(({ name, description, input_schema }: JsonObject) => ({
        name,
        description,
        schema: input_schema,
      })),
    };
  },

  write({ text, reasoning, calls, finish, usage }, model) {
    const cached = usage.cacheReadTokens ?? 0;
    const used = { input_tokens: usage.inputTokens - cached, cache_read_input_tokens: cached };
    const pieces: string[] = [];
    let index = -1;
    /** The block opens with its first piece and closes with its last one. */
    const block = (start: object, deltas: readonly object[]) => {
      index += 1;
      const opened = event('content_block_start', { index, content_block: start });
      const closed = event('content_block_stop', { index });
      const written = deltas.map(delta => event('content_block_delta', { index, delta }));
      written[0] = opened + (written[0] ?? '');
      written.push(written.pop() + closed);
      pieces.push(...written);
    };
    if (reasoning.length > 0)
      block({ type: 'thinking', thinking: '' }, [
        ...reasoning.map(thinking => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature: 'signed' },
      ]);
    if (text.length > 0)
      block(
        { type: 'text', text: '' },
        text.map(each => ({ type: 'text_delta', text: each })),
      );
    for (const { id, name, raw } of calls)
      block({ type: 'tool_use', id, name, input: {} }, [{ type: 'input_json_delta', partial_json: raw }]);
    return {
      begin: event('message_start', {
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model,
          content: [],
          usage: { ...used, output_tokens: 1 },
        },
      }),
      pieces,
      end:
        event('message_delta', {
          delta: { stop_reason: STOP_REASONS[finish], stop_sequence: null },
          usage: {
            ...used,
            output_tokens: usage.outputTokens,
            ...(usage.reasoningTokens && {
              output_tokens_details: { thinking_tokens: usage.reasoningTokens },
            }),
          },
        }) + event('message_stop', {}),
    };
  },

  failure: (status, message) => ({
    type: 'error',
    error: { type: ERROR_TYPES[status] ?? 'api_error', message },
  }),
  failed: message => event('error', { error: { type: 'overloaded_error', message } }),
};

const event = (type: string, members: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;

/** The results of tools stand in a message of the user, before what the user says. */
function readMessage({ role, content }: JsonObject): SeenMessage[] {
  const blocks: JsonObject[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  const text = textIn(blocks.filter(({ type }) => type === 'text'));
  if (role === 'assistant') {
    const calls = blocks
      .filter(({ type }) => type === 'tool_use')
      .map(({ id, name, input }) => ({ id, name, input }));
    return [{ role, text, calls }];
  }
  const results = blocks
    .filter(({ type }) => type === 'tool_result')
    .map(block => ({
      role: 'tool' as const,
      id: block.tool_use_id,
      text: textIn(block.content),
      isError: block.is_error === true,
    }));
  return text === '' ? results : [...results, { role: 'user', text }];
}
