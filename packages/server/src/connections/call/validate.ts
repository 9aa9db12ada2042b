import { mismatchIn } from '../tool/check-arguments.ts';
import { type CallStep, refuse } from './outbound-call.ts';

/**
 * Ensures that the arguments are what the tool takes, as far as its schema tells without running what the server wrote; the rest is the
 * server's to say (attack 42).
 */
export const validateStep: CallStep = {
  name: 'validate',
  run({ tool, call }) {
    const mismatch = mismatchIn(tool!.inputSchema, call.arguments);
    if (!mismatch) return undefined;
    const place = mismatch.path === '' ? 'they' : mismatch.path;
    return refuse(
      'INVALID_ARGUMENTS',
      `the tool "${call.tool}" does not take these arguments: ${place} ${mismatch.says}`,
    );
  },
};
