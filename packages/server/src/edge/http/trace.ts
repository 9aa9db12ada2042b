import { randomBytes } from 'node:crypto';

/**
 * The trace a request belongs to (W3C Trace Context): the caller's when it sends a valid `traceparent`, else a new one.
 * The id stands in every log line of the request and in `internal` errors, so a caller can quote it.
 */
export function traceIdOf(traceparent: string | undefined): string {
  const match = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?$/.exec(traceparent ?? '');
  const id = match?.[1];
  return id && !/^0+$/.test(id) && !traceparent!.startsWith('ff') ? id : randomBytes(16).toString('hex');
}
