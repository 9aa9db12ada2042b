import { granted, type Outcome, refused } from '../../kernel/result.ts';
import { openClaims, type SealRefusal, sealClaims } from './sealed-claims.ts';

/**
 * What a call of the stateless era that ended with a question hands its client, to be sent back with the answer: any node can go on with
 * it. The client may send anything instead.
 */
export interface RequestClaims {
  /** The door, and the agent behind it. */
  readonly resource: string;
  /** The credential of the call; with another one it is worth nothing. */
  readonly credential: string;
  /** Of the arguments of the call: the repeat has the same. */
  readonly digest: string;
  readonly conversationId: string;
  /** The step of the conversation that waits. */
  readonly stepIndex: number;
  readonly pauseId: string;
  /** How often this call has asked, with this question. */
  readonly round: number;
  /** How many bubbles of the answer the client has been told. */
  readonly heard: number;
  /** Epoch ms. */
  readonly expires: number;
}

export type RequestStateRefusal =
  | SealRefusal
  | { readonly reason: 'expired' | 'other-resource' | 'other-credential' | 'other-arguments' };

const SEALED = { purpose: 'request-state:', maxLength: 2048 };

export function signRequestState(claims: RequestClaims, secret: Uint8Array): string {
  const { resource, credential, digest, conversationId, stepIndex, pauseId, round, heard, expires } = claims;
  return sealClaims(
    [resource, credential, digest, conversationId, stepIndex, pauseId, round, heard, expires],
    secret,
    SEALED.purpose,
  );
}

export function verifyRequestState(
  text: string,
  expected: Pick<RequestClaims, 'resource' | 'credential' | 'digest'> & { readonly now: number },
  secret: Uint8Array,
): Outcome<RequestClaims, RequestStateRefusal> {
  const opened = openClaims(text, secret, SEALED);
  if (!opened.ok) return opened;
  // Sealed by us, so the form is known.
  const [resource, credential, digest, conversationId, stepIndex, pauseId, round, heard, expires] =
    opened.value as [string, string, string, string, number, string, number, number, number];
  if (expires <= expected.now) return refused({ reason: 'expired' });
  if (resource !== expected.resource) return refused({ reason: 'other-resource' });
  if (credential !== expected.credential) return refused({ reason: 'other-credential' });
  if (digest !== expected.digest) return refused({ reason: 'other-arguments' });
  return granted({ resource, credential, digest, conversationId, stepIndex, pauseId, round, heard, expires });
}
