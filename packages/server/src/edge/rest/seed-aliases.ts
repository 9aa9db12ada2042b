import { listDocs, readDocs } from '@patchbay/contract/operations/docs';
import { Hono } from 'hono';
import type { Operations } from '../../operations/invoke.ts';
import type { RequestScope } from '../http/request-scope.ts';
import { restError } from './rest.ts';

/** The REST paths seed 000 names, in its formats: aliases of our operations (decisions.md 1; E-69). */
export function createSeedAliases(deps: {
  readonly operations: Operations;
  readonly authenticate: (request: Request, scope: RequestScope) => Promise<RequestScope['principal']>;
}): Hono<{ Variables: { scope: RequestScope } }> {
  const { operations, authenticate } = deps;
  const app = new Hono<{ Variables: { scope: RequestScope } }>();

  async function callOf(request: Request, scope: RequestScope) {
    const principal = await authenticate(request, scope);
    return { principal: principal!, signal: new AbortController().signal, progress: () => {} };
  }

  app.get('/administration/docs', async c => {
    const { docs } = await operations.invoke(listDocs, {}, await callOf(c.req.raw, c.get('scope')));
    return c.json(docs as string[]);
  });
  app.get('/administration/docs/:name', async c => {
    const call = await callOf(c.req.raw, c.get('scope'));
    const { markdown } = await operations.invoke(readDocs, { name: c.req.param('name') }, call);
    return c.text(markdown as string);
  });
  app.onError((thrown, c) => restError(thrown, c.get('scope')));
  return app;
}
