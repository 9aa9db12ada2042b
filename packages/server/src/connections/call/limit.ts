import type { ServerDefinition } from '../server/definition.ts';
import { asText } from '../tool/limit-result.ts';
import { resultValue } from '../tool/tool-result.ts';
import type { CallStep } from './outbound-call.ts';

/** Of a result that goes into the memory of a turn, where the definition says nothing. */
const DEFAULT_BYTES = 2_000_000;

/** UTF-8 bytes of a result that a consumer gets. */
export function maxBytesOf({ maxResultBytes = DEFAULT_BYTES }: ServerDefinition): number {
  return maxResultBytes;
}

/** Ensures that what the consumer gets is bounded, and says where it is from. */
export const limitStep: CallStep = {
  name: 'limit',
  run({ call, result, suspicious = [] }) {
    const maxBytes = maxBytesOf(call.server);
    const whole = asText(result!, undefined);
    const cut = whole.length * 3 > maxBytes && Buffer.byteLength(whole) > maxBytes;
    const text = cut ? asText(result!, maxBytes) : whole;
    return {
      kind: 'answered',
      result: {
        value: cut ? text : resultValue(result!),
        text,
        isError: result!.isError,
        cut,
        outside: !call.server.trusted,
        suspicious,
      },
    };
  },
};
