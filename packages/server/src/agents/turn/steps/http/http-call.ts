import type { z } from 'zod';
import type { httpcallsDocument } from '../../../document/httpcalls.ts';

export type HttpcallsDocument = z.output<typeof httpcallsDocument.body>;
export type HttpCall = HttpcallsDocument['httpCalls'][number];

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Does asking again change nothing (RFC 9110, 9.2.1)? */
export function isSafe({ request }: HttpCall): boolean {
  return SAFE_METHODS.has(request.method);
}

/** The name templates and rules find the answer by. */
export function answerName({ name, responseObjectName }: HttpCall): string {
  return responseObjectName ?? name;
}
