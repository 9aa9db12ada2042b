import type { PlatformError } from '../../kernel/errors.ts';
import { isObject } from '../../kernel/json.ts';

export type JsonRpcId = string | number | null;

export interface JsonRpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** A JSON-RPC error as the whole answer of a POST. */
export function jsonRpcErrorResponse(
  id: JsonRpcId,
  error: JsonRpcError,
  status: number,
  headers?: Record<string, string>,
): Response {
  return Response.json({ jsonrpc: '2.0', id, error }, { status, ...(headers && { headers }) });
}

/** How a `PlatformError` looks in JSON-RPC: integer code, stable name in `data.code` (B-85, C11). */
export function toJsonRpcError(error: PlatformError, traceId: string): JsonRpcError {
  const details = error.kind === 'internal' ? { traceId } : error.details;
  return {
    code: error.row.rpcCode,
    message: error.message,
    data: { code: error.row.agentCode, ...(details && { details }) },
  };
}

/** The id to answer with: type-preserving, `null` where the body has none that could be read. */
export function idOf(message: unknown): JsonRpcId {
  if (!isObject(message)) return null;
  const id = message.id;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}
