import { keyKindOf } from './key/key-token.ts';

/** The headers a credential may come in. Never a query string (attacks 4). */
export interface CredentialHeaders {
  readonly authorization: string | undefined;
  readonly agentApiKey: string | undefined;
  /** The address of the request holds a token: such a request is refused, whatever else it presents (attack 4). */
  readonly inAddress?: boolean;
}

/** What a request presents, before anything is looked up. `bad` covers every form no door accepts. */
export type PresentedCredential =
  | { readonly kind: 'none' }
  | { readonly kind: 'bad' }
  | { readonly kind: 'user-key'; readonly token: string }
  | { readonly kind: 'agent-key'; readonly token: string }
  /** A signed token (JWT), by its form. */
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'opaque'; readonly token: string };

const JWT = /^[\w-]+\.[\w-]+\.[\w-]*$/;

/**
 * Reads the one credential of a request. Two different ones are refused (B-19), the same `bak_` in both headers is fine
 * (B-20), and `X-Agent-API-Key` takes a `bak_` only (B-22).
 */
export function readCredential(headers: CredentialHeaders): PresentedCredential {
  const { authorization, agentApiKey, inAddress } = headers;
  if (inAddress) return { kind: 'bad' };
  if (authorization === undefined && agentApiKey === undefined) return { kind: 'none' };
  const bearer =
    authorization === undefined ? undefined : /^Bearer +([^\s,]+)$/i.exec(authorization.trim())?.[1];
  if (authorization !== undefined && bearer === undefined) return { kind: 'bad' };
  if (agentApiKey !== undefined) {
    if (keyKindOf(agentApiKey) !== 'agent') return { kind: 'bad' };
    if (bearer !== undefined && bearer !== agentApiKey) return { kind: 'bad' };
    return { kind: 'agent-key', token: agentApiKey };
  }
  const token = bearer!;
  const keyKind = keyKindOf(token);
  if (keyKind) return { kind: `${keyKind}-key`, token };
  return { kind: JWT.test(token) ? 'token' : 'opaque', token };
}
