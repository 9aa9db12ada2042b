import { OPERATIONS, type Operation } from '@patchbay/contract/operations';
import { Hono } from 'hono';
import { z } from 'zod';
import { PlatformError, toPlatformError } from '../../kernel/errors.ts';
import type { Operations } from '../../operations/invoke.ts';
import { readJsonBody } from '../http/body.ts';
import type { RequestScope } from '../http/request-scope.ts';
import { isObject } from '../mcp/json-rpc.ts';

/** The REST surface: one route an operation, read from its definition (architecture, idea 1). */
export function createRest(deps: {
  readonly operations: Operations;
  readonly maxBodyBytes: number;
  /** Who is asking; rejects with `unauthenticated`. */
  readonly authenticate: (request: Request, scope: RequestScope) => Promise<RequestScope['principal']>;
}): Hono<{ Variables: { scope: RequestScope } }> {
  const { operations, maxBodyBytes, authenticate } = deps;
  const app = new Hono<{ Variables: { scope: RequestScope } }>();

  for (const definition of OPERATIONS) {
    const {
      method,
      path,
      successStatus = 200,
    } = definition.rest as Operation['rest'] & { successStatus?: 200 | 201 };
    const toArguments = queryReader(definition);
    app.on(method, path.replaceAll(/\{(\w+)\}/g, ':$1'), async c => {
      const scope = c.get('scope');
      const principal = await authenticate(c.req.raw, scope);
      const args = {
        ...(method === 'POST'
          ? await bodyArguments(c.req.raw, maxBodyBytes)
          : toArguments(new URL(c.req.url))),
        ...c.req.param(),
      };
      // A broken connection does not end a turn: it ends by its own answer or time limit, as in the older MCP eras.
      const call = { principal: principal!, signal: new AbortController().signal, progress: () => {} };
      return c.json(await operations.invoke(definition, args, call), successStatus);
    });
  }

  app.all('*', c => {
    throw new PlatformError(
      'not_found',
      `There is no ${c.req.method} ${c.req.path}; the docs page rest lists the routes.`,
    );
  });

  app.onError((thrown, c) => restError(thrown, c.get('scope')));
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
  const { properties = {} } = z.toJSONSchema(definition.input, { io: 'input' }) as {
    properties?: Record<string, { type?: string }>;
  };
  return url => {
    const args: Record<string, unknown> = {};
    for (const [name, text] of url.searchParams) {
      const type = properties[name]?.type;
      if (type === 'integer' && /^-?\d{1,15}$/.test(text)) args[name] = Number(text);
      else if (type === 'boolean' && (text === 'true' || text === 'false')) args[name] = text === 'true';
      else args[name] = text;
    }
    return args;
  };
}
