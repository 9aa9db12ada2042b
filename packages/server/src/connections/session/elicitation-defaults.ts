import { isObject } from '../../kernel/json.ts';
import type { Answerer, Members } from './wire.ts';

/** Puts into an accepted form what the server gave as default and the answer leaves out (SEP-1034). */
export function fillingInDefaults(answer: Answerer): Answerer {
  return async (method, params) => {
    const answered = await answer(method, params);
    if (method !== 'elicitation/create' || answered.action !== 'accept' || params.mode === 'url')
      return answered;
    return {
      ...answered,
      content: { ...defaultsOf(params.requestedSchema), ...membersOf(answered.content) },
    };
  };
}

function defaultsOf(schema: unknown): Members {
  const fields = Object.entries(membersOf(membersOf(schema).properties));
  return Object.fromEntries(
    fields.flatMap(([name, field]) => {
      const value = membersOf(field).default;
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function membersOf(value: unknown): Members {
  return isObject(value) ? value : {};
}
