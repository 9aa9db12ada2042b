/** What a call came to, as plain JSON: the journal keeps it. No secret is in it. */
export type HttpOutcome = Answered | NotAnswered | { readonly kind: 'fired' };

/** The server answered, with whatever status. */
export interface Answered {
  readonly kind: 'answered';
  readonly status: number;
  /** Names in lower case; those that look like credentials are left out. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON where the answer says it is and is, else text; `null` when there is none. */
  readonly body: unknown;
  /** What is odd about the body. */
  readonly note?: string;
  readonly request?: SentRequest;
}

/** There is no answer, or none that can be used. */
export interface NotAnswered {
  readonly kind: 'failed';
  readonly code: CallErrorCode;
  /** For people: no address, no value. */
  readonly message: string;
  /** False when nothing can have arrived: then it may be sent again. */
  readonly sent: boolean;
  readonly request?: SentRequest;
}

/** A request as it is remembered: without credentials, and scrubbed. */
export interface SentRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export type CallErrorCode =
  | 'BAD_REQUEST'
  | 'REFERENCE_IN_DATA'
  | 'REFERENCE_UNRESOLVED'
  | 'ADDRESS_REFUSED'
  | 'CONNECT_FAILED'
  | 'CONNECTION_BROKEN'
  | 'REDIRECT_REFUSED'
  | 'TIMEOUT'
  | 'TOO_LARGE'
  | 'TOO_MANY'
  | 'BATCH_REFUSED'
  | 'APPROVAL_CHANGED'
  | 'APPROVAL_EXPIRED'
  | 'OUTCOME_UNKNOWN';

export function notAnswered(code: CallErrorCode, message: string, sent: boolean): NotAnswered {
  return { kind: 'failed', code, message, sent };
}

/** An earlier run of the turn was cut off between the sending and the answer. */
export const OUTCOME_UNKNOWN = notAnswered(
  'OUTCOME_UNKNOWN',
  'it was cut off while it was under way, so it may have been carried out or not; it is not sent again',
  true,
);
