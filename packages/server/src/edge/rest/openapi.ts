import { renderOpenApi } from '@patchbay/contract/openapi';
import { Hono } from 'hono';
import type { ScopedEnv } from '../http/request-scope.ts';

/**
 * `/openapi.json`: the description of this surface, made once a start. It needs no credential: it says nothing of this
 * installation that the published package does not say, and generators and tools fetch it without one.
 */
export function createOpenApi(): Hono<ScopedEnv> {
  const text = JSON.stringify(renderOpenApi());
  return new Hono<ScopedEnv>().get('/openapi.json', c =>
    c.body(text, 200, { 'Content-Type': 'application/json' }),
  );
}
