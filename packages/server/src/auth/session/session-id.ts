import { granted, type Outcome, refused } from '../../kernel/result.ts';
import { openClaims, type SealRefusal, sealClaims } from './sealed-claims.ts';

/** What an older-era session id carries: it is its own state, so any node can serve any request (decisions.md 4). */
export interface SessionClaims {
  /** The door, and the agent behind it. */
  readonly resource: string;
  /** The negotiated protocol revision. */
  readonly version: string;
  /** The credential it was issued to; with another one it is unknown (attacks 17). */
  readonly credential: string;
  /** Epoch ms. */
  readonly expires: number;
  /** Makes two sessions of one client two different ones. */
  readonly nonce: string;
  /** The client can show its person a form. */
  readonly forms: boolean;
  /** The client can have its person open an address. */
  readonly urls: boolean;
}

export type SessionRefusal =
  | SealRefusal
  | { readonly reason: 'expired' | 'other-resource' | 'other-credential' };

/** A client sends it with every request. */
const SEALED = { purpose: '', maxLength: 1024 };

export function signSessionId(claims: SessionClaims, secret: Uint8Array): string {
  const { resource, version, credential, expires, nonce, forms, urls } = claims;
  const modes = [...(forms ? ['forms'] : []), ...(urls ? ['urls'] : [])];
  return sealClaims([resource, version, credential, expires, nonce, ...modes], secret, SEALED.purpose);
}

export function verifySessionId(
  id: string,
  expected: { readonly resource: string; readonly credential: string; readonly now: number },
  secret: Uint8Array,
): Outcome<SessionClaims, SessionRefusal> {
  const opened = openClaims(id, secret, SEALED);
  if (!opened.ok) return opened;
  // Sealed by us, so the form is known; ids from before there were forms end with the nonce.
  const [resource, version, credential, expires, nonce, ...modes] = opened.value as [
    ...[string, string, string, number, string],
    ...string[],
  ];
  if (expires <= expected.now) return refused({ reason: 'expired' });
  if (resource !== expected.resource) return refused({ reason: 'other-resource' });
  if (credential !== expected.credential) return refused({ reason: 'other-credential' });
  const [forms, urls] = [modes.includes('forms'), modes.includes('urls')];
  return granted({ resource, version, credential, expires, nonce, forms, urls });
}
