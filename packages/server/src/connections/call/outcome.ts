/** What went wrong with a call, or with the connection it needed. */
export type FailureKind =
  /** No connection: known to be down, refused, no such host, TLS, connect time limit. */
  | 'SERVER_UNAVAILABLE'
  /** The server wants a credential it did not get, or refused the one it got. */
  | 'AUTHENTICATION_FAILED'
  | 'TOOL_NOT_FOUND'
  | 'INVALID_ARGUMENTS'
  /** An error of the protocol, an answer that is none, no revision in common. */
  | 'PROTOCOL_ERROR'
  /** The connection broke behind the request, or the server's HTTP status says that it failed. */
  | 'TRANSPORT_ERROR'
  | 'TIMEOUT'
  /** Cancelled, or the platform stops. */
  | 'INTERRUPTED'
  | 'UNSUPPORTED_RESULT';

/** Did the server get the call? `unknown` is treated as yes: nothing is sent twice. */
export type Reached = 'no' | 'yes' | 'unknown';
