import { createHmac, timingSafeEqual } from 'node:crypto';
import { granted, type Outcome, refused } from '../../kernel/result.ts';

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
}

export type SessionRefusal = {
  readonly reason: 'malformed' | 'bad-signature' | 'expired' | 'other-resource' | 'other-credential';
};

/** `<claims>.<mac>`, both base64url: visible ASCII as the specification asks, and not to be guessed or changed. */
export function signSessionId(claims: SessionClaims, secret: Uint8Array): string {
  const payload = Buffer.from(
    JSON.stringify([claims.resource, claims.version, claims.credential, claims.expires, claims.nonce]),
  ).toString('base64url');
  return `${payload}.${mac(payload, secret).toString('base64url')}`;
}

export function verifySessionId(
  id: string,
  expected: { readonly resource: string; readonly credential: string; readonly now: number },
  secret: Uint8Array,
): Outcome<SessionClaims, SessionRefusal> {
  const [payload, signature, ...rest] = id.split('.');
  if (!payload || !signature || rest.length > 0 || id.length > 1024) return refused({ reason: 'malformed' });
  const given = Buffer.from(signature, 'base64url');
  const right = mac(payload, secret);
  if (given.length !== right.length || !timingSafeEqual(given, right))
    return refused({ reason: 'bad-signature' });
  // Signed by us, so the form is known.
  const [resource, version, credential, expires, nonce] = JSON.parse(
    Buffer.from(payload, 'base64url').toString('utf8'),
  );
  if (expires <= expected.now) return refused({ reason: 'expired' });
  if (resource !== expected.resource) return refused({ reason: 'other-resource' });
  if (credential !== expected.credential) return refused({ reason: 'other-credential' });
  return granted({ resource, version, credential, expires, nonce });
}

function mac(payload: string, secret: Uint8Array): Buffer {
  return createHmac('sha256', secret).update(payload).digest();
}
