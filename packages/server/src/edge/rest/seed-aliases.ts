import { listDocs, readDocs } from '@patchbay/contract/operations/docs';
import { createResource } from '@patchbay/contract/operations/documents';
import { discoverMcpTools } from '@patchbay/contract/operations/servers';
import { Hono } from 'hono';
import { plainCall } from '../../operations/bind.ts';
import type { Operations } from '../../operations/invoke.ts';
import type { ScopedEnv } from '../http/request-scope.ts';
import { type Authenticate, bodyArguments, queryReader } from './rest.ts';

/** The REST paths seed 000 names, in its formats: aliases of our operations (decisions.md 1; E-69, E-77, EX-02). */
export function createSeedAliases(deps: {
  readonly operations: Operations;
  readonly authenticate: Authenticate;
  readonly maxBodyBytes: number;
}): Hono<ScopedEnv> {
  const { operations, authenticate, maxBodyBytes } = deps;
  const readDiscovery = queryReader(discoverMcpTools);
  const app = new Hono<ScopedEnv>();

  app.get('/administration/docs', async c => {
    const call = plainCall(await authenticate(c.req.raw, c.get('scope')));
    const { docs } = await operations.invoke(listDocs, {}, call);
    return c.json(docs as string[]);
  });
  app.get('/administration/docs/:name', async c => {
    const call = plainCall(await authenticate(c.req.raw, c.get('scope')));
    const { markdown } = await operations.invoke(readDocs, { name: c.req.param('name') }, call);
    return c.text(markdown as string);
  });
  app.post('/mcpcallsstore/mcpcalls', async c => {
    const call = plainCall(await authenticate(c.req.raw, c.get('scope')));
    const config = JSON.stringify(await bodyArguments(c.req.raw, maxBodyBytes));
    const created = await operations.invoke(createResource, { resourceType: 'mcpcalls', config }, call);
    const { resourceId, version } = created as { resourceId: string; version: number };
    const location = `/mcpcallsstore/mcpcalls/${resourceId}?version=${version}`;
    return c.json(created, 201, { Location: location });
  });
  app.get('/mcpcallsstore/mcpcalls/discover-tools', async c => {
    const call = plainCall(await authenticate(c.req.raw, c.get('scope')));
    return c.json(await operations.invoke(discoverMcpTools, readDiscovery(new URL(c.req.url)), call));
  });
  return app;
}
