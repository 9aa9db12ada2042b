import type { MiddlewareHandler } from 'hono';

/** Our own addresses in a page. Whatever a person or a client has written cannot look like this: its quotes are escaped. */
const OWN_ADDRESSES = /( (?:action|href)=")(\/)/g;

/**
 * Puts the prefix in front that a proxy has for us and takes off again: pages know their paths without it. `prefix` is empty, or begins with a
 * slash and ends without one.
 */
export function underPrefix(prefix: () => string): MiddlewareHandler {
  return async (c, next) => {
    await next();
    const own = prefix();
    if (own === '') return;
    const location = c.res.headers.get('location');
    if (location?.startsWith('/')) c.res.headers.set('location', own + location);
    if (!c.res.headers.get('content-type')?.startsWith('text/html')) return;
    const text = (await c.res.text()).replace(OWN_ADDRESSES, `$1${own}$2`);
    c.res = new Response(text, c.res);
  };
}
