import { SessionError } from '../failure.ts';
import { parseMessage } from '../parse-message.ts';

/** Of one message: what the largest useful results need, and what one connection may cost. */
const MAX_MESSAGE_MB = 32;
export const MAX_MESSAGE_BYTES = MAX_MESSAGE_MB * 1024 * 1024;

export function messageTooLarge(): SessionError {
  return new SessionError('PROTOCOL_ERROR', 'yes', `its answer is larger than ${MAX_MESSAGE_MB} MB`);
}

/** What a server wrote, as JSON. Throws a `SessionError`. */
export function readMessage(text: string): unknown {
  try {
    return parseMessage(text);
  } catch (cause) {
    const why =
      cause instanceof SyntaxError ? 'it answered with something that is not JSON' : (cause as Error).message;
    throw new SessionError('PROTOCOL_ERROR', 'yes', why, { cause });
  }
}
