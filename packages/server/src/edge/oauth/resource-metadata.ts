import { Hono } from 'hono';
import type { ResourceName, Resources } from '../../auth/token/resource.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { ScopedEnv } from '../http/request-scope.ts';

const WELL_KNOWN = '/.well-known/oauth-protected-resource';
/** A host that has found no agent may ask again soon, and one that has found the document need not for a while. */
const CACHED = { 'Cache-Control': 'max-age=300' };

/** What clients are told of a door: who issues tokens for it, and which scopes to ask for (RFC 9728). */
export interface ResourceMetadata {
  /** The document about a door, for somebody connected to this `Host`. */
  addressOf(name: ResourceName, host: string | undefined): string;
  scopesOf(name: ResourceName): readonly string[];
  readonly routes: Hono<ScopedEnv>;
}

export function createResourceMetadata(deps: {
  readonly resources: Resources;
  /** Issues the tokens of the agent door. */
  readonly issuer: () => string;
  /** Issues those of the operator door: a realm, or we ourselves (E-41). */
  readonly operatorIssuer: () => string;
  /** What a client of the operator door asks for (E-38). */
  readonly operatorScopes: readonly string[];
}): ResourceMetadata {
  const { resources, issuer, operatorIssuer, operatorScopes } = deps;
  const isOperator = ({ door }: ResourceName) => door === 'operator';
  const scopesOf = (name: ResourceName) => (isOperator(name) ? operatorScopes : ['agents']);

  /** The path of a door behind the well-known one; where a proxy has a prefix, hosts write it between the two. */
  function nameOf(path: string): ResourceName | undefined {
    const base = resources.base();
    return resources.nameOf(base + path) ?? resources.nameOf(new URL(base).origin + path);
  }

  const routes = new Hono<ScopedEnv>();
  for (const route of [WELL_KNOWN, `${WELL_KNOWN}/*`]) {
    routes.get(route, c => {
      const name = nameOf(c.req.path.slice(WELL_KNOWN.length));
      if (!name) throw new PlatformError('not_found', 'There is no MCP address of that form here.');
      // The same for every id that an agent may have: whether there is one is not told (B-11).
      return c.json(
        {
          resource: resources.baseFor(c.req.header('host')) + resources.pathOf(name),
          authorization_servers: [isOperator(name) ? operatorIssuer() : issuer()],
          scopes_supported: scopesOf(name),
          bearer_methods_supported: ['header'],
          resource_name: isOperator(name) ? 'Patchbay' : 'Patchbay agents',
        },
        200,
        CACHED,
      );
    });
  }

  return {
    addressOf: (name, host) => resources.baseFor(host) + WELL_KNOWN + resources.pathOf(name),
    scopesOf,
    routes,
  };
}
