import { Hono } from 'hono';
import type { AuthorizationServer } from '../../auth/server/authorization-server.ts';
import type { Resources } from '../../auth/token/resource.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { ScopedEnv } from '../http/request-scope.ts';

const KINDS = ['oauth-authorization-server', 'openid-configuration'];
const CACHED = { 'Cache-Control': 'max-age=300' };

/**
 * What clients find out about the authorization server: one document, wherever hosts look for it. Some put the well-known name in front of the path of
 * the door that refused them, some behind it (mcp.md 1.2).
 */
export function createServerMetadata(deps: {
  readonly server: Pick<AuthorizationServer, 'metadata'>;
  readonly resources: Resources;
  readonly operatorPath: string;
}): Hono<ScopedEnv> {
  const { server, resources, operatorPath } = deps;
  /** The path of a door of ours, also with the prefix that a proxy has for us. */
  const isDoor = (path: string) => {
    const base = resources.base();
    return (resources.nameOf(base + path) ?? resources.nameOf(new URL(base).origin + path)) !== undefined;
  };
  const routes = new Hono<ScopedEnv>();
  for (const kind of KINDS) {
    const wellKnown = `/.well-known/${kind}`;
    for (const route of [wellKnown, `${wellKnown}/*`]) {
      routes.get(route, c => {
        if (isDoor(c.req.path.slice(wellKnown.length))) return c.json(server.metadata(), 200, CACHED);
        throw new PlatformError('not_found', 'There is no MCP address of that form here.');
      });
    }
    for (const door of [operatorPath, '/:agentId/mcp']) {
      routes.get(door + wellKnown, c => {
        if (isDoor(c.req.path.slice(0, -wellKnown.length))) return c.json(server.metadata(), 200, CACHED);
        throw new PlatformError('not_found', 'There is no MCP address of that form here.');
      });
    }
  }
  return routes;
}
