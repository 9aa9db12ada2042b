import { type FullAnswer, type JsonObject, type SeenMessage, textIn, toolText, type Wire } from './wire.ts';

const INCOMPLETE: Readonly<Partial<Record<FullAnswer['finish'], string>>> = {
  length: 'max_output_tokens',
  'content-filter': 'content_filter',
};

/** OpenAI's Responses, as a stream. */
export const responses: Wire = {
  name: 'responses',
  path: /\/responses$/,

  read(body) {
    const instructs = ({ role }: JsonObject) => role === 'system' || role === 'developer';
    return {
      model: body.model,
      system: body.input
        .filter(instructs)
        .map(({ content }: JsonObject) => textIn(content))
        .join('\n'),
      messages: body.input.filter((item: JsonObject) => !instructs(item)).reduce(addItem, []),
      tools: (body.tools ?? []).map(({ name, description, parameters }: JsonObject) => ({
        name,
        description,
        schema: parameters,
      })),
    };
  },

  write({ text, reasoning, calls, finish, usage }, model) {
    const pieces: string[] = [];
    let output_index = -1;
    /** The item opens with its first piece and closes with its last one. */
    const item = (id: string, members: object, done: object, deltas: readonly object[]) => {
      output_index += 1;
      const place = { output_index, item_id: id };
      const opened = event('response.output_item.added', { output_index, item: { id, ...members } });
      const closed = event('response.output_item.done', { output_index, item: { id, ...members, ...done } });
      const written = deltas.map(delta => typed({ ...place, ...delta }));
      written[0] = opened + (written[0] ?? '');
      written.push(written.pop() + closed);
      pieces.push(...written);
    };
    if (reasoning.length > 0)
      item(
        'rs_1',
        { type: 'reasoning', encrypted_content: null, summary: [] },
        { encrypted_content: 'sealed' },
        reasoning.map(delta => ({ type: 'response.reasoning_summary_text.delta', summary_index: 0, delta })),
      );
    if (text.length > 0) {
      const type = finish === 'refusal' ? 'response.refusal.delta' : 'response.output_text.delta';
      item(
        'msg_1',
        { type: 'message', role: 'assistant', content: [] },
        {},
        text.map(delta => ({ type, content_index: 0, delta })),
      );
    }
    for (const { id, name, raw } of calls)
      item(
        `fc_${id}`,
        { type: 'function_call', call_id: id, name, arguments: '', status: 'in_progress' },
        { arguments: raw, status: 'completed' },
        [{ type: 'response.function_call_arguments.delta', delta: raw }],
      );
    const response = { id: 'resp_1', created_at: 0, model };
    const reason = INCOMPLETE[finish];
    return {
      begin: event('response.created', { response }) + event('response.in_progress', { response }),
      pieces,
      end: event(reason ? 'response.incomplete' : 'response.completed', {
        response: {
          ...response,
          incomplete_details: reason ? { reason } : null,
          usage: {
            input_tokens: usage.inputTokens,
            input_tokens_details: { cached_tokens: usage.cacheReadTokens ?? 0 },
            output_tokens: usage.outputTokens,
            output_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
          },
        },
      }),
    };
  },

  failure: (status, message) => ({ error: { message, type: 'error', param: null, code: String(status) } }),
  failed: message =>
    event('error', {
      sequence_number: 9,
      error: { type: 'server_error', code: 'server_error', message, param: null },
    }),
};

const event = (type: string, members: object) => typed({ type, ...members });
const typed = (value: object & { type?: string }) =>
  `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;

/** What an assistant says and calls are items of their own here. */
function addItem(messages: SeenMessage[], item: JsonObject): SeenMessage[] {
  if (item.type === 'reasoning') return messages;
  if (item.type === 'function_call_output')
    return [...messages, { role: 'tool', id: item.call_id, ...toolText(textIn(item.output)) }];
  if (item.role === 'user') return [...messages, { role: 'user', text: textIn(item.content) }];
  const before = messages.at(-1);
  const said = before?.role === 'assistant' ? before : { role: 'assistant' as const, text: '', calls: [] };
  const others = said === before ? messages.slice(0, -1) : messages;
  if (item.type !== 'function_call') return [...others, { ...said, text: said.text + textIn(item.content) }];
  const call = { id: item.call_id, name: item.name, input: JSON.parse(item.arguments) };
  return [...others, { ...said, calls: [...said.calls, call] }];
}
