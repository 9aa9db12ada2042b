import { SessionError } from '../session/failure.ts';
import { readToolResult } from '../tool/tool-result.ts';
import type { CallStep } from './outbound-call.ts';

/** Ensures that only what a server did send counts as its answer. */
export const interpretStep: CallStep = {
  name: 'interpret',
  run(state) {
    const read = readToolResult(state.raw);
    if (!read.ok) throw new SessionError(read.refusal.reason, 'yes', `its result ${read.refusal.message}`);
    state.result = read.value;
    return undefined;
  },
};
