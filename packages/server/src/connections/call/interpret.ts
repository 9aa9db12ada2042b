import { isObject } from '../../kernel/json.ts';
import { SessionError } from '../session/failure.ts';

import { asText } from '../tool/limit-result.ts';
import { suspicionsIn } from '../tool/suspicious.ts';
import { readToolResult, type ToolResult } from '../tool/tool-result.ts';
import { maxBytesOf } from './limit.ts';
import type { CallStep } from './outbound-call.ts';

/**
 * Ensures that only what a server did send counts as its answer, that what looks like instructions in it is known, and that it repeats no
 * credential it was called with.
 */
export const interpretStep: CallStep = {
  name: 'interpret',
  run(state) {
    const read = readToolResult(state.raw);
    if (!read.ok) throw new SessionError(read.refusal.reason, 'yes', `its result ${read.refusal.message}`);
    const { scrub } = state;
    const result = scrub ? scrubbed(read.value, scrub) : read.value;
    state.result = result;
    if (!state.call.server.trusted) {
      // No consumer gets more characters than that.
      state.suspicious = suspicionsIn(asText(result, undefined).slice(0, maxBytesOf(state.call.server)));
    }
    return undefined;
  },
};

/** Some servers answer with the request they got. */
function scrubbed(result: ToolResult, scrub: (text: string) => string): ToolResult {
  const { structured, text, described, isError } = result;
  return {
    ...(structured !== undefined && { structured: scrubbedValue(structured, scrub) }),
    text: scrub(text),
    described: described.map(scrub),
    isError,
  };
}

function scrubbedValue(value: unknown, scrub: (text: string) => string): unknown {
  const json = JSON.stringify(value);
  // All of it at once: at each part it takes seconds for a large result, which the server chooses.
  const clean = scrub(json);
  if (clean === json) return value;
  try {
    return JSON.parse(clean) as unknown;
  } catch {
    // A credential that is a number, or a word of JSON, stands in places that are no texts.
  }
  return JSON.parse(json, (_name, part: unknown) => {
    if (typeof part === 'string') return scrub(part);
    if (!isObject(part)) return part;
    return Object.fromEntries(Object.entries(part).map(([name, member]) => [scrub(name), member]));
  });
}
