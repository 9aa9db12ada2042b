import { PlatformError } from '../../kernel/errors.ts';
import { parseJson } from '../../kernel/json.ts';
import type { SafeFetchInit } from '../../kernel/safe-fetch.ts';
import { readClient } from './registration.ts';

/** How such a document is fetched: a caller names its address, so it is nobody's inside, and small and quick. */
export const CLIENT_DOCUMENT: SafeFetchInit = {
  hostFrom: 'outside',
  limits: { totalMs: 5_000, maxBytes: 5 * 1024 },
};

const MAX_DEPTH = 10;
/** What its host says of how long it may be believed; within which bounds is the library's business. */
const PASSED_ON = ['cache-control', 'expires'];

/**
 * Gets the document that describes a client whose id is its address, as the library is to see it: the members that a registration has, and no
 * others (attack 13). No redirect is followed. Rejects with a `PlatformError` where the document cannot be had.
 */
export function createClientDocuments(
  fetchDocument: (url: string, init: RequestInit) => Promise<Response>,
): (url: string) => Promise<Response> {
  return async url => {
    const response = await fetchDocument(url, {
      redirect: 'manual',
      headers: { accept: 'application/json' },
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      return new Response(null, { status: 502 });
    }
    const parsed = parseJson(await response.text(), { maxDepth: MAX_DEPTH });
    const said = parsed.ok ? parsed.value : undefined;
    const client = readClient(said);
    if (!client.ok || !canBePublic(said as Record<string, unknown>)) {
      throw new PlatformError('invalid', 'The document describes no public client.');
    }
    const headers = PASSED_ON.flatMap(name => {
      const value = response.headers.get(name);
      return value === null ? [] : [[name, value] as [string, string]];
    });
    const { client_id } = said as Record<string, unknown>;
    // Everybody reads such a document, so a secret could be in none.
    const described = { ...client.value, client_id, token_endpoint_auth_method: 'none' };
    return Response.json(described, { headers });
  };
}

/** A client may like another method better and still be able to go without (OpenID Connect Relying Party Metadata Choices). */
function canBePublic(said: Record<string, unknown>): boolean {
  const { token_endpoint_auth_method: method = 'none', token_endpoint_auth_methods_supported: methods } =
    said;
  return method === 'none' || (Array.isArray(methods) && methods.includes('none'));
}
