import type { MiddlewareHandler } from 'hono';

const ENDPOINTS = new Set(['/oauth/register', '/oauth/token', '/oauth/revoke']);
const KEYS = '/oauth/jwks';
/** Below the root, or behind the path of a door. */
const DOCUMENTS =
  /^(?:\/[a-z0-9._~-]+)*\/\.well-known\/(?:oauth-authorization-server|openid-configuration|oauth-protected-resource)(?:\/[a-z0-9._~-]+)*$/;

/**
 * Addresses that every web page may call: MCP hosts that are pages find out here where to sign in, register and get their tokens. None reads
 * a cookie, and none does anything that a program could not do as well. Every other address keeps to our own pages.
 */
export function isOpenToPages({ method, path }: { readonly method: string; readonly path: string }): boolean {
  const isRead = method === 'GET' || method === 'OPTIONS';
  const isSent = method === 'POST' || method === 'OPTIONS';
  return (isSent && ENDPOINTS.has(path)) || (isRead && (path === KEYS || DOCUMENTS.test(path)));
}

const PREFLIGHT = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET, POST',
  'Access-Control-Allow-Headers': 'content-type, authorization, mcp-protocol-version',
  'Access-Control-Max-Age': '600',
};

/** Says so to browsers (CORS), without credentials. */
export const openToPages: MiddlewareHandler = async (c, next) => {
  if (!isOpenToPages(c.req)) return next();
  if (c.req.method === 'OPTIONS') return c.body(null, 204, PREFLIGHT);
  await next();
  c.res.headers.set('Access-Control-Allow-Origin', '*');
};
