import { SessionError } from '../failure.ts';

/** Of one message: what the largest useful results need, and what one connection may cost. */
const MAX_MESSAGE_MB = 32;
export const MAX_MESSAGE_BYTES = MAX_MESSAGE_MB * 1024 * 1024;

export function messageTooLarge(): SessionError {
  return new SessionError('PROTOCOL_ERROR', 'yes', `its answer is larger than ${MAX_MESSAGE_MB} MB`);
}

/** What a server wrote, as JSON. Throws a `SessionError`. */
export function parseMessage(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new SessionError('PROTOCOL_ERROR', 'yes', 'it answered with something that is not JSON', { cause });
  }
}
