import { SessionError } from '../session/failure.ts';
import { asText } from '../tool/limit-result.ts';
import { suspicionsIn } from '../tool/suspicious.ts';
import { readToolResult } from '../tool/tool-result.ts';
import { maxBytesOf } from './limit.ts';
import type { CallStep } from './outbound-call.ts';

/** Ensures that only what a server did send counts as its answer, and that what looks like instructions in it is known. */
export const interpretStep: CallStep = {
  name: 'interpret',
  run(state) {
    const read = readToolResult(state.raw);
    if (!read.ok) throw new SessionError(read.refusal.reason, 'yes', `its result ${read.refusal.message}`);
    state.result = read.value;
    if (!state.call.server.trusted) {
      // No consumer gets more characters than that.
      state.suspicious = suspicionsIn(asText(read.value, undefined).slice(0, maxBytesOf(state.call.server)));
    }
    return undefined;
  },
};
