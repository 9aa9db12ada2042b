import type { FailureKind, Reached } from '../../call/outcome.ts';
import { SessionError } from '../failure.ts';

/** Errors with which servers refuse whoever they do not know; others are the answer to a request that was understood. */
const INVALID_REQUEST = -32600;
const SERVER_ERRORS = { from: -32019, to: -32000 };

/** Can a JSON-RPC error, if there is one, mean that the server does not know who asks? */
export function isUnknownSender(code: number | undefined): boolean {
  const { from, to } = SERVER_ERRORS;
  return code === undefined || code === INVALID_REQUEST || (code >= from && code <= to);
}

/** An HTTP status that says the request was not taken. */
export class HttpRefusal extends SessionError {
  readonly httpStatus: number;
  /** The JSON-RPC error in the body, where there is one. */
  readonly rpcError: { readonly code: number; readonly message: string; readonly data?: unknown } | undefined;
  /** The server no longer knows the session: it has not executed the request (2025-11-25, Session Management). */
  readonly sessionGone: boolean;

  constructor(status: number, text: string, hadSession: boolean) {
    const rpcError = rpcErrorIn(text);
    const said = rpcError?.message ?? '';
    const sessionGone = status === 404 && hadSession && isUnknownSender(rpcError?.code);
    const [kind, reached] = sessionGone ? (['SERVER_UNAVAILABLE', 'no'] as const) : meaningOf(status);
    super(
      kind,
      reached,
      sessionGone
        ? 'it no longer knows the session'
        : `it answered with status ${status}${said && `: ${said}`}`,
      { status, ...(rpcError && { code: rpcError.code }) },
    );
    this.httpStatus = status;
    this.rpcError = rpcError;
    this.sessionGone = sessionGone;
  }
}

/** A-82. */
function meaningOf(status: number): readonly [FailureKind, Reached] {
  if (status === 401 || status === 403) return ['AUTHENTICATION_FAILED', 'no'];
  return status >= 500 ? ['TRANSPORT_ERROR', 'unknown'] : ['PROTOCOL_ERROR', 'yes'];
}

function rpcErrorIn(text: string): HttpRefusal['rpcError'] {
  try {
    const { error } = JSON.parse(text) as { error?: { code?: unknown; message?: unknown; data?: unknown } };
    if (typeof error?.code !== 'number') return undefined;
    return { code: error.code, message: String(error.message ?? ''), data: error.data };
  } catch {
    return undefined;
  }
}
