import { PlatformError } from '../../kernel/errors.ts';
import { redactText } from '../../kernel/redact.ts';
import type { FailureKind, Reached } from '../call/outcome.ts';

const MAX_MESSAGE = 1_000;

/** A session's request that was not answered with a result. The message is a phrase that may be shown, without secrets and line breaks. */
export class SessionError extends Error {
  readonly kind: FailureKind;
  readonly reached: Reached;
  /** Of a JSON-RPC error. */
  readonly code: number | undefined;
  /** Of an HTTP answer. */
  readonly status: number | undefined;

  constructor(
    kind: FailureKind,
    reached: Reached,
    message: string,
    more: { readonly code?: number; readonly status?: number; readonly cause?: unknown } = {},
  ) {
    super(shownText(message), more.cause === undefined ? undefined : { cause: more.cause });
    this.name = 'SessionError';
    this.kind = kind;
    this.reached = reached;
    this.code = more.code;
    this.status = more.status;
  }
}

/** The person for whom a request was made has to sign in at the server first; it was not executed. */
export class SignInNeeded extends SessionError {
  /** Of the credential, by name. */
  readonly credential: string;
  /** The one that does not do, where they have one, and the scopes that it lacks. */
  readonly lacking: { readonly given?: number; readonly scope?: string };

  constructor(credential: string, message: string, lacking: SignInNeeded['lacking'] = {}) {
    super('AUTHENTICATION_FAILED', 'no', message);
    this.credential = credential;
    this.lacking = lacking;
  }
}

/** What a server wrote, as one line for people: short, without control characters and without what looks like a secret. */
function shownText(text: string): string {
  const line = redactText(text.slice(0, 2 * MAX_MESSAGE))
    .replace(/\p{Cc}+/gu, ' ')
    .trim();
  return line.length > MAX_MESSAGE ? `${line.slice(0, MAX_MESSAGE)}...` : line;
}

/** Of an error, one behind the other. */
const MAX_CAUSES = 8;

/** The same error, with the secrets out of its message and those of its causes. */
export function scrubbed(thrown: unknown, scrub: (text: string) => string): unknown {
  for (let error = thrown, depth = 0; error instanceof Error && depth < MAX_CAUSES; depth++) {
    error.message = scrub(error.message);
    error = error.cause;
  }
  return thrown;
}

/** The failure behind anything a transport throws; what is no failure of the connection is thrown on. */
export function sessionError(thrown: unknown): SessionError {
  if (thrown instanceof SessionError) return thrown;
  if (thrown instanceof PlatformError) return fromEgress(thrown);
  const reached = reachedOf(thrown);
  const message = thrown instanceof Error ? thrown.message : 'the connection broke';
  return reached === 'no'
    ? new SessionError('SERVER_UNAVAILABLE', 'no', message, { cause: thrown })
    : new SessionError('TRANSPORT_ERROR', reached, message, { cause: thrown });
}

/** The one safe fetch says whether anything of the request was sent. */
function fromEgress(error: PlatformError): SessionError {
  const sent = error.details?.sent !== false;
  const kind = sent ? (error.kind === 'timeout' ? 'TIMEOUT' : 'TRANSPORT_ERROR') : 'SERVER_UNAVAILABLE';
  return new SessionError(kind, sent ? 'unknown' : 'no', error.message, { cause: error });
}

/** A transport that knows whether a message was written says so on its error. */
function reachedOf(thrown: unknown): Reached {
  if (typeof thrown !== 'object' || thrown === null || !('reached' in thrown)) return 'unknown';
  return thrown.reached === 'no' ? 'no' : 'unknown';
}

/** A refusal, whose sentence is for people, as a failure of that kind: nothing has been sent. */
export function refusedAs(kind: FailureKind): (thrown: unknown) => never {
  return thrown => {
    if (!(thrown instanceof PlatformError)) throw thrown;
    throw new SessionError(kind, 'no', thrown.message, { cause: thrown });
  };
}
