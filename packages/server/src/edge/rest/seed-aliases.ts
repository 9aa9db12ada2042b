import { listDocs, readDocs } from '@patchbay/contract/operations/docs';
import { Hono } from 'hono';
import { plainCall } from '../../operations/bind.ts';
import type { Operations } from '../../operations/invoke.ts';
import type { ScopedEnv } from '../http/request-scope.ts';
import type { Authenticate } from './rest.ts';

/** The REST paths seed 000 names, in its formats: aliases of our operations (decisions.md 1; E-69). */
export function createSeedAliases(deps: {
  readonly operations: Operations;
  readonly authenticate: Authenticate;
}): Hono<ScopedEnv> {
  const { operations, authenticate } = deps;
  const app = new Hono<ScopedEnv>();

  app.get('/docs', async c => {
    const call = plainCall(await authenticate(c.req.raw, c.get('scope')));
    const { docs } = await operations.invoke(listDocs, {}, call);
    return c.json(docs as string[]);
  });
  app.get('/docs/:name', async c => {
    const call = plainCall(await authenticate(c.req.raw, c.get('scope')));
    const { markdown } = await operations.invoke(readDocs, { name: c.req.param('name') }, call);
    return c.text(markdown as string);
  });
  return app;
}
