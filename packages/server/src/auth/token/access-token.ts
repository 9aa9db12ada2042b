import { createPublicKey, createSecretKey, type KeyObject } from 'node:crypto';
import { decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from 'jose';
import { z } from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import { granted, type Outcome, refused } from '../../kernel/result.ts';
import type { ResourceName, Resources } from './resource.ts';
import type { SigningKeys } from './signing-keys.ts';
import { rememberVerified } from './verified-tokens.ts';

/** What an access token of ours says, once its signature is known to be ours. Who may still use it is in the tables. */
export interface TokenClaims {
  readonly userId: string;
  readonly clientId: string;
  /** The row of `grants` it was issued under. */
  readonly grantId: string;
  readonly audience: ResourceName;
  readonly scopes: ReadonlySet<string>;
  /** Epoch ms, with the allowance for clocks. */
  readonly expiresAt: number;
}

export type TokenRefusal = {
  readonly reason: 'bad-token' | 'bad-signature' | 'expired-token' | 'other-issuer' | 'other-audience';
};

/** Tokens of the built-in authorization server: each door has its own kind, and no key but ours is ever looked for. */
export interface AccessTokens {
  /** The claims, without asking whether the grant still holds. */
  read(token: string, door: 'operator' | 'agents'): Promise<Outcome<TokenClaims, TokenRefusal>>;
}

/** How far the clock of another node of ours may be off. */
const CLOCK_TOLERANCE_S = 5;
/** Longer than any token of ours, and shorter than what would take long to look at. */
const MAX_TOKEN_CHARS = 8_192;
/** What a header of ours may hold: a token that names a key of its own, or one to fetch, is not looked at (attack 2). */
const HEADER_MEMBERS = new Set(['alg', 'typ', 'kid']);

const claimsSchema = z.object({
  aud: z.string(),
  sub: z.string().min(1),
  client_id: z.string().min(1),
  grant: z.string().min(1),
  scope: z.string().default(''),
  exp: z.number(),
});

export function createAccessTokens(deps: {
  readonly keys: SigningKeys;
  readonly resources: Resources;
  readonly issuer: () => string;
  readonly clock: Pick<Clock, 'now'>;
}): AccessTokens {
  const { keys, resources, issuer, clock } = deps;
  const { d: _private, ...publicJwk } = keys.es256;
  const doors = {
    operator: rememberVerified(
      clock,
      verifierFor('ES256', createPublicKey({ key: publicJwk, format: 'jwk' })),
    ),
    agents: rememberVerified(clock, verifierFor('HS256', createSecretKey(keys.hs256))),
  };

  function verifierFor(alg: 'ES256' | 'HS256', key: KeyObject) {
    return async (token: string): Promise<Outcome<TokenClaims, TokenRefusal>> => {
      if (token.length > MAX_TOKEN_CHARS || !hasPlainHeader(token)) return refused({ reason: 'bad-token' });
      try {
        const { payload } = await jwtVerify(token, key, {
          algorithms: [alg],
          issuer: issuer(),
          typ: 'at+jwt',
          clockTolerance: CLOCK_TOLERANCE_S,
          currentDate: new Date(clock.now()),
          requiredClaims: ['exp', 'iat', 'jti'],
        });
        return readClaims(payload);
      } catch (thrown) {
        return refused({ reason: reasonOf(thrown) });
      }
    };
  }

  /** The audience is the canonical address, spelled exactly: it was written by us. */
  function readClaims(payload: JWTPayload): Outcome<TokenClaims, TokenRefusal> {
    const read = claimsSchema.safeParse(payload);
    if (!read.success) return refused({ reason: 'bad-token' });
    const { aud, sub, client_id: clientId, grant: grantId, scope, exp } = read.data;
    const audience = resources.nameOf(aud);
    if (!audience || resources.addressOf(audience) !== aud) return refused({ reason: 'other-audience' });
    const scopes = new Set(scope.split(' '));
    const expiresAt = (exp + CLOCK_TOLERANCE_S) * 1000;
    return granted({ userId: sub, clientId, grantId, audience, scopes, expiresAt });
  }

  return { read: (token, door) => doors[door](token) };
}

function hasPlainHeader(token: string): boolean {
  try {
    return Object.keys(decodeProtectedHeader(token)).every(member => HEADER_MEMBERS.has(member));
  } catch {
    return false;
  }
}

function reasonOf(thrown: unknown): TokenRefusal['reason'] {
  if (thrown instanceof errors.JWTExpired) return 'expired-token';
  if (thrown instanceof errors.JWSSignatureVerificationFailed) return 'bad-signature';
  if (thrown instanceof errors.JWTClaimValidationFailed && thrown.claim === 'iss') return 'other-issuer';
  return 'bad-token';
}
