import { PlatformError } from '../../kernel/errors.ts';
import { parseJson } from '../../kernel/json.ts';
import type { SafeFetch } from '../../kernel/safe-fetch.ts';
import { readClient } from './registration.ts';

const MAX_BYTES = 5 * 1024;
const TOTAL_MS = 5_000;
const MAX_DEPTH = 10;
/** How long a document is believed at least and at most is the library's business; this is what its host may say of it. */
const PASSED_ON = ['cache-control', 'expires'];

/**
 * Gets the document that describes a client whose id is its address, as the library is to see it: the members that a registration has, and no others
 * (attack 13). From a public address over https, no redirect followed. Rejects with a `PlatformError` where the document cannot be had.
 */
export function createClientDocuments(deps: {
  readonly fetch: SafeFetch;
}): (url: string) => Promise<Response> {
  return async url => {
    const response = await deps.fetch(url, {
      hostFrom: 'outside',
      redirect: 'manual',
      headers: { accept: 'application/json' },
      limits: { totalMs: TOTAL_MS, maxBytes: MAX_BYTES },
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      return new Response(null, { status: 502 });
    }
    const parsed = parseJson(await response.text(), { maxDepth: MAX_DEPTH });
    const said = parsed.ok ? parsed.value : undefined;
    const client = readClient(said);
    const { client_id, token_endpoint_auth_method: method = 'none' } = (said ?? {}) as Record<
      string,
      unknown
    >;
    if (!client.ok || method !== 'none') {
      throw new PlatformError('invalid', 'The document describes no public client.');
    }
    const headers = PASSED_ON.flatMap(name => {
      const value = response.headers.get(name);
      return value === null ? [] : [[name, value] as [string, string]];
    });
    return Response.json({ ...client.value, client_id }, { headers });
  };
}
