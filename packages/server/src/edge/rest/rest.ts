import { publishedInput, sendsBody } from '@patchbay/contract/operation';
import { OPERATIONS, type Operation } from '@patchbay/contract/operations';
import { Hono } from 'hono';
import { PlatformError, toPlatformError } from '../../kernel/errors.ts';
import type { Principal } from '../../kernel/principal.ts';
import { plainCall } from '../../operations/bind.ts';
import type { Operations } from '../../operations/invoke.ts';
import { readJsonBody } from '../http/body.ts';
import type { RequestScope, ScopedEnv } from '../http/request-scope.ts';
import { isObject } from '../mcp/json-rpc.ts';

/** Who is asking, as the route's surface wants it; rejects with `unauthenticated`. */
export type Authenticate = (
  request: Request,
  scope: RequestScope,
  surface?: Operation['rest']['surface'],
) => Promise<Principal>;

/** The REST surface: one route an operation, read from its definition (architecture, idea 1). */
export function createRest(deps: {
  readonly operations: Operations;
  readonly maxBodyBytes: number;
  readonly authenticate: Authenticate;
}): Hono<ScopedEnv> {
  const { operations, maxBodyBytes, authenticate } = deps;
  const app = new Hono<ScopedEnv>();
  for (const definition of OPERATIONS as readonly Operation[]) {
    const { method, path, successStatus = 200, surface } = definition.rest;
    const readQuery = queryReader(definition);
    app.on(method, path.replaceAll(/\{(\w+)\}/g, ':$1'), async c => {
      const principal = await authenticate(c.req.raw, c.get('scope'), surface);
      const args = sendsBody(method)
        ? await bodyArguments(c.req.raw, maxBodyBytes)
        : readQuery(new URL(c.req.url));
      const inPath: Record<string, string> = c.req.param();
      const twice = Object.keys(inPath).find(
        name => Object.hasOwn(args, name) && args[name] !== inPath[name],
      );
      if (twice !== undefined) throw saidTwice(twice);
      const output = await operations.invoke(definition, { ...args, ...inPath }, plainCall(principal));
      return successStatus === 204 ? c.body(null, 204) : c.json(output, successStatus);
    });
  }
  return app;
}

/** BX-06: one envelope for every REST error. */
export function restError(thrown: unknown, scope: RequestScope): Response {
  const error = toPlatformError(thrown, 'The request');
  if (error.kind === 'internal') scope.log.error('A REST request failed', { error });
  const { httpStatus, type, agentCode } = error.row;
  const details = error.kind === 'internal' ? { traceId: scope.traceId } : error.details;
  return Response.json(
    { success: false, error: { type, code: agentCode, message: error.message, ...(details && { details }) } },
    { status: httpStatus, ...(httpStatus === 401 && { headers: { 'WWW-Authenticate': 'Bearer' } }) },
  );
}

async function bodyArguments(request: Request, maxBytes: number): Promise<Record<string, unknown>> {
  const read = await readJsonBody(request, maxBytes);
  if (!read.ok)
    throw new PlatformError(
      read.refusal.reason === 'too_large' ? 'too_large' : 'invalid',
      read.refusal.message,
    );
  if (!isObject(read.value))
    throw new PlatformError('invalid', 'The body must be a JSON object with the arguments.');
  return read.value;
}

/** Query text becomes what the argument's schema takes: a number, true or false, else the text itself. */
function queryReader(definition: Operation): (url: URL) => Record<string, unknown> {
  const { properties } = publishedInput(definition);
  return url => {
    const args: Record<string, unknown> = {};
    for (const [name, text] of url.searchParams) {
      if (Object.hasOwn(args, name)) throw saidTwice(name);
      const type = properties[name]?.type;
      if (type === 'integer' && /^-?\d{1,15}$/.test(text)) args[name] = Number(text);
      else if (type === 'boolean' && (text === 'true' || text === 'false')) args[name] = text === 'true';
      else args[name] = text;
    }
    return args;
  };
}

function saidTwice(name: string): PlatformError {
  return new PlatformError('invalid', `${name}: is given twice with different values; give it once.`);
}
