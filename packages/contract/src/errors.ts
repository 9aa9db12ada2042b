/**
 * Every way a request can be refused or fail, and how each door writes it down.
 * One row here is one rendering at every door, so the doors cannot disagree
 * (one-system.md section 5; E-28, B-85).
 */
export const ERROR_TABLE = {
  invalid: {
    httpStatus: 400,
    rpcCode: -32602,
    agentCode: 'invalid_param',
    errorCode: 'BAD_REQUEST',
    type: 'invalid_request_error',
  },
  unauthenticated: {
    httpStatus: 401,
    rpcCode: 401,
    agentCode: 'unauthorized',
    errorCode: 'FORBIDDEN',
    type: 'authentication_error',
  },
  forbidden: {
    httpStatus: 403,
    rpcCode: 403,
    agentCode: 'forbidden',
    errorCode: 'FORBIDDEN',
    type: 'permission_error',
  },
  not_found: {
    httpStatus: 404,
    rpcCode: 404,
    agentCode: 'not_found',
    errorCode: 'NOT_FOUND',
    type: 'not_found_error',
  },
  agent_not_found: {
    httpStatus: 404,
    rpcCode: 404,
    agentCode: 'agent_not_found',
    errorCode: 'NOT_FOUND',
    type: 'not_found_error',
  },
  conflict: {
    httpStatus: 409,
    rpcCode: 409,
    agentCode: 'conflict',
    errorCode: 'CONFLICT',
    type: 'conflict_error',
  },
  wrong_state: {
    httpStatus: 409,
    rpcCode: 409,
    agentCode: 'conflict',
    errorCode: 'WRONG_STATE',
    type: 'conflict_error',
  },
  pause_changed: {
    httpStatus: 409,
    rpcCode: 409,
    agentCode: 'conflict',
    errorCode: 'PAUSE_CHANGED',
    type: 'conflict_error',
  },
  disabled: {
    httpStatus: 403,
    rpcCode: 403,
    agentCode: 'forbidden',
    errorCode: 'DISABLED',
    type: 'permission_error',
  },
  too_large: {
    httpStatus: 413,
    rpcCode: 413,
    agentCode: 'payload_too_large',
    errorCode: 'BAD_REQUEST',
    type: 'invalid_request_error',
  },
  rate_limited: {
    httpStatus: 429,
    rpcCode: 429,
    agentCode: 'rate_limited',
    errorCode: 'CONFLICT',
    type: 'rate_limit_error',
  },
  unavailable: {
    httpStatus: 503,
    rpcCode: 503,
    agentCode: 'agent_service_unavailable',
    errorCode: 'INTERNAL',
    type: 'api_error',
  },
  timeout: {
    httpStatus: 504,
    rpcCode: 504,
    agentCode: 'service_timeout',
    errorCode: 'INTERNAL',
    type: 'api_error',
  },
  cancelled: {
    httpStatus: 499,
    rpcCode: 499,
    agentCode: 'cancelled',
    errorCode: 'CONFLICT',
    type: 'api_error',
  },
  internal: {
    httpStatus: 500,
    rpcCode: -32603,
    agentCode: 'internal_error',
    errorCode: 'INTERNAL',
    type: 'api_error',
  },
} as const satisfies Record<string, ErrorRow>;

/** How one kind of error looks at each door. */
export interface ErrorRow {
  /** Status on REST and, before the first byte, at the agent door. */
  readonly httpStatus: number;
  /** Integer `error.code` of a JSON-RPC error. */
  readonly rpcCode: number;
  /** `error.data.code` at the agent door and `error.code` on REST. */
  readonly agentCode: string;
  /** `errorCode` of a tool error at the operator door (E-20, E-28). */
  readonly errorCode:
    | 'BAD_REQUEST'
    | 'FORBIDDEN'
    | 'NOT_FOUND'
    | 'WRONG_STATE'
    | 'CONFLICT'
    | 'PAUSE_CHANGED'
    | 'DISABLED'
    | 'INTERNAL';
  /** `error.type` on REST (BX-06). */
  readonly type: string;
}

/** The kind of a `PlatformError`: a key of the table. */
export type ErrorKind = keyof typeof ERROR_TABLE;
