import { data, type FullAnswer, type JsonObject, type SeenMessage, textIn, type Wire } from './wire.ts';

const FINISH_REASONS: Readonly<Record<FullAnswer['finish'], string>> = {
  stop: 'STOP',
  'tool-calls': 'STOP',
  length: 'MAX_TOKENS',
  'content-filter': 'SAFETY',
  refusal: 'PROHIBITED_CONTENT',
};

const STATUSES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};

/**
 * Gemini's streamGenerateContent. Arguments of calls are no text here but a value; a model that can't write one says MALFORMED_FUNCTION_CALL, and so
 * does this one where the arguments of the script are no JSON.
 */
export const gemini: Wire = {
  name: 'gemini',
  path: /:streamGenerateContent$/,

  read(body, path) {
    const declared = (body.tools ?? []).flatMap((tool: JsonObject) => tool.functionDeclarations ?? []);
    return {
      model: /\/models\/([^/:]+):/.exec(path)?.[1] ?? '',
      system: textIn(body.systemInstruction?.parts),
      messages: body.contents.flatMap(readContent),
      tools: declared.map(({ name, description, parameters, parametersJsonSchema }: JsonObject) => ({
        name,
        description,
        schema: parameters ?? parametersJsonSchema,
      })),
    };
  },

  write({ text, reasoning, calls, finish, usage }, model) {
    const wellFormed = calls.flatMap(call => {
      const args = parsed(call.raw);
      return args === undefined ? [] : [{ id: call.id, name: call.name, args }];
    });
    const malformed = wellFormed.length < calls.length;
    const chunk = (parts: readonly object[], more: object = {}) =>
      data({
        candidates: [{ index: 0, content: { role: 'model', parts }, ...more }],
        responseId: 'response-1',
        modelVersion: model,
      });
    return {
      begin: '',
      pieces: [
        ...reasoning.map(each => chunk([{ text: each, thought: true }])),
        ...text.map(each => chunk([{ text: each }])),
        ...wellFormed.map(functionCall => chunk([{ functionCall, thoughtSignature: 'signed' }])),
      ],
      end: data({
        candidates: [
          {
            index: 0,
            content: { role: 'model', parts: [] },
            finishReason: malformed ? 'MALFORMED_FUNCTION_CALL' : FINISH_REASONS[finish],
          },
        ],
        usageMetadata: {
          promptTokenCount: usage.inputTokens,
          cachedContentTokenCount: usage.cacheReadTokens ?? 0,
          candidatesTokenCount: usage.outputTokens - (usage.reasoningTokens ?? 0),
          thoughtsTokenCount: usage.reasoningTokens ?? 0,
          totalTokenCount: usage.inputTokens + usage.outputTokens,
        },
        responseId: 'response-1',
        modelVersion: model,
      }),
    };
  },

  failure: (code, message) => ({ error: { code, message, status: STATUSES[code] ?? 'INTERNAL' } }),
  failed: message => data({ error: { code: 503, message, status: 'UNAVAILABLE' } }),
};

function parsed(raw: string): unknown {
  try {
    return JSON.parse(raw);
  } catch {
    return undefined;
  }
}

/** Calls have ids only where the model gave them some; their results name the tool. */
function readContent({ role, parts }: JsonObject): SeenMessage[] {
  const text = textIn(parts.filter((part: JsonObject) => !part.thought));
  if (role === 'model') {
    const calls = parts.flatMap(({ functionCall }: JsonObject) =>
      functionCall
        ? [{ id: functionCall.id ?? functionCall.name, name: functionCall.name, input: functionCall.args }]
        : [],
    );
    return [{ role: 'assistant', text, calls }];
  }
  const results = parts.flatMap(({ functionResponse }: JsonObject) =>
    functionResponse
      ? [
          {
            role: 'tool',
            id: functionResponse.id ?? functionResponse.name,
            ...resultOf(functionResponse.response),
          },
        ]
      : [],
  );
  return text === '' ? results : [...results, { role: 'user', text }];
}

function resultOf({ content, error }: JsonObject): { readonly text: string; readonly isError: boolean } {
  return { text: error ?? content, isError: error !== undefined };
}
