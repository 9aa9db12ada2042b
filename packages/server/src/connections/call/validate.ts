import { mismatchIn } from '../tool/check-arguments.ts';
import { type CallStep, refuse } from './outbound-call.ts';
import { typedArguments } from './typed-arguments.ts';

/** Of all arguments of a call, as JSON. */
const MAX_CHARACTERS = 1_000_000;

/**
 * Ensures that the arguments are what the tool takes, as far as its schema tells without running what the server wrote; the rest is the
 * server's to say (attack 42). What a rule gives as a text and the tool takes as a number or a truth value becomes one; from here on the
 * arguments stay as they are.
 */
export const validateStep: CallStep = {
  name: 'validate',
  run(state) {
    const { call } = state;
    const { inputSchema } = state.tool!;
    const { length } = JSON.stringify(call.arguments);
    if (length > MAX_CHARACTERS) {
      return refuse(
        'INVALID_ARGUMENTS',
        `the arguments for the tool "${call.tool}" have ${length} characters as JSON, and ${MAX_CHARACTERS} are the most`,
      );
    }
    if (call.driver === 'rule') state.arguments = typedArguments(call.arguments, inputSchema);
    const mismatch = mismatchIn(inputSchema, state.arguments);
    if (!mismatch) return undefined;
    const place = mismatch.path === '' ? 'they' : mismatch.path;
    return refuse(
      'INVALID_ARGUMENTS',
      `the tool "${call.tool}" does not take these arguments: ${place} ${mismatch.says}`,
    );
  },
};
