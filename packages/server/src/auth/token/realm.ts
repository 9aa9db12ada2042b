import { hash } from 'node:crypto';
import { parseRole, type Role } from '@patchbay/contract/roles';
import { errors, type JWTPayload, type JWTVerifyResult, jwtVerify } from 'jose';
import { z } from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import { PlatformError } from '../../kernel/errors.ts';
import { isObject } from '../../kernel/json.ts';
import type { Principal } from '../../kernel/principal.ts';
import { granted, type Outcome, refused } from '../../kernel/result.ts';
import type { Store } from '../../store/store.ts';
import { updateUserRoles } from '../../store/tables/users.ts';
import type { Rows } from '../access-rows.ts';
import { personOfSubject } from '../user/subjects.ts';
import type { RealmDocuments, RealmKeys } from './realm-documents.ts';
import type { Resources } from './resource.ts';
import type { HolderRefusal } from './token-holder.ts';
import { rememberVerified } from './verified-tokens.ts';

/** Who somebody of the realm is here, with the roles that it says they have. */
export interface RealmIdentity {
  readonly userId: string;
  readonly roles: ReadonlySet<Role>;
  /** They are shut out here, whatever the realm says. */
  readonly disabled: boolean;
}

/** Whom a token of the realm was issued to. */
export interface RealmPerson extends RealmIdentity {
  readonly client: string;
  /** Epoch ms, with the allowance for clocks. */
  readonly expiresAt: number;
}

export type RealmRefusal = {
  readonly reason:
    | 'bad-token'
    | 'bad-signature'
    | 'expired-token'
    | 'other-issuer'
    | 'other-audience'
    | 'unknown-signing-key'
    | 'realm-unavailable';
};

/** What names the roles, and which of ours they are. */
export interface RealmRoles {
  /** A member of the token, or a path to it: `realm_access.roles` (E-45). */
  readonly claim: string;
  /** The realm's name → ours; those that are ours, or EDDI's, need none. */
  readonly names: ReadonlyMap<string, string>;
}

/** An OpenID realm that the operator door trusts instead of the built-in authorization server. */
export interface Realm {
  /** Who issues tokens for the operator door: clients are sent there (E-41). */
  readonly issuer: string;
  readonly documents: RealmDocuments;
  /** A token in use is not verified again: it goes on until it ends, also while the realm cannot be asked. */
  read(token: string): Promise<Outcome<RealmPerson, RealmRefusal>>;
  /** Who the claims of a token of the realm are about, once these are known to be true. */
  personIn(claims: Readonly<Record<string, unknown>>): Promise<RealmIdentity>;
}

const CLOCK_TOLERANCE_S = 5;
const MAX_TOKEN_CHARS = 16_384;
/** Signatures that nobody can make who can only check them (attack 2). */
export const REALM_ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];
const TYPES = [undefined, 'JWT', 'at+jwt', 'application/at+jwt'];
const MAX_ROLES = 1_000;

const plainText = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^\P{Cc}+$/u);
const claimsSchema = z.looseObject({
  sub: plainText(255),
  exp: z.number(),
  azp: plainText(255).optional().catch(undefined),
  client_id: plainText(255).optional().catch(undefined),
});

export function createRealm(deps: {
  readonly issuer: string;
  readonly documents: RealmDocuments;
  /** Whom tokens must be for; the operator door itself unless given. */
  readonly audiences: readonly string[];
  readonly roles: RealmRoles;
  readonly store: Store;
  readonly resources: Pick<Resources, 'nameOf'>;
  readonly clock: Clock;
}): Realm {
  const { issuer, documents, audiences, roles, store, resources, clock } = deps;

  const verifyWith = (token: string, keys: RealmKeys) =>
    jwtVerify(token, keys, {
      issuer,
      algorithms: REALM_ALGORITHMS,
      requiredClaims: ['exp', 'sub'],
      clockTolerance: CLOCK_TOLERANCE_S,
      currentDate: new Date(clock.now()),
    });

  /** With a key that we do not know yet, once more with those the realm has now. */
  async function verify(token: string): Promise<JWTVerifyResult> {
    try {
      return await verifyWith(token, await documents.keys());
    } catch (thrown) {
      if (!(thrown instanceof errors.JWKSNoMatchingKey)) throw thrown;
      return verifyWith(token, await documents.newerKeys());
    }
  }

  function isForUs(payload: JWTPayload): boolean {
    const named = [payload.aud ?? []].flat();
    return audiences.length > 0
      ? named.some(each => audiences.includes(each))
      : named.some(each => typeof each === 'string' && resources.nameOf(each)?.door === 'operator');
  }

  /** Their id here. The roles are kept for what they do without a token: their keys, and what they allow clients. */
  async function personIn(claims: Readonly<Record<string, unknown>>): Promise<RealmIdentity> {
    const own = rolesOf(claims, roles);
    const known = { issuer, subject: String(claims.sub), name: nameIn(claims) };
    const { id, roles: kept, disabled } = await personOfSubject({ store, clock }, known);
    const isSame = own.length === kept.length && own.every(role => kept.includes(role));
    if (!isSame) await store.commit(db => updateUserRoles(db, id, own));
    return { userId: id, roles: new Set(own), disabled };
  }

  async function readToken(token: string): Promise<Outcome<RealmPerson, RealmRefusal>> {
    if (token.length > MAX_TOKEN_CHARS) return refused({ reason: 'bad-token' });
    try {
      const { payload, protectedHeader } = await verify(token);
      const claims = claimsSchema.safeParse(payload);
      const { typ } = protectedHeader;
      if (!claims.success || !TYPES.includes(typ) || !isAccessToken(payload, typ))
        return refused({ reason: 'bad-token' });
      if (!isForUs(payload)) return refused({ reason: 'other-audience' });
      const { exp, azp, client_id } = claims.data;
      const client = shortName(azp ?? client_id ?? '');
      return granted({
        ...(await personIn(claims.data)),
        ...{ client, expiresAt: (exp + CLOCK_TOLERANCE_S) * 1000 },
      });
    } catch (thrown) {
      return refused({ reason: reasonOf(thrown) });
    }
  }

  return {
    issuer,
    documents,
    read: rememberVerified(clock, readToken),
    personIn,
  };
}

/** The person with the roles of this token, unless they are shut out here. A realm knows no scopes of ours, so its tokens are not limited. */
export async function realmHolder(
  rows: Rows,
  { userId, client, roles }: RealmPerson,
): Promise<Outcome<Principal, HolderRefusal>> {
  const subject = { userId, via: 'token' };
  const person = await rows.person(userId);
  if (!person) return refused({ reason: 'unknown-person', subject });
  if (person.disabled) return refused({ reason: 'disabled-person', subject });
  return granted({
    id: userId,
    roles,
    via: 'token',
    // Not the token: a session goes on with the next one of the same client (attack 17).
    credential: `realm:${client}:${userId}`,
    agents: { kind: 'shared' },
  });
}

/** How a person of the realm is called. */
function nameIn(claims: Readonly<Record<string, unknown>>): string {
  const names = [claims.preferred_username, claims.name, claims.email, claims.sub];
  const name = names.find(each => typeof each === 'string' && /\S/.test(each)) as string | undefined;
  return (name ?? 'somebody').replaceAll(/\p{Cc}/gu, ' ').slice(0, 100);
}

/**
 * Id tokens and refresh tokens have the same issuer and signature, and are for the client alone: an access token says that it is one, or
 * what it may be used for. One that is bound to a key is none for bearers.
 */
function isAccessToken(payload: JWTPayload, headerType: string | undefined): boolean {
  const { typ: kind, cnf, at_hash: ofAnother } = payload;
  if (cnf !== undefined || ofAnother !== undefined || (kind !== undefined && kind !== 'Bearer')) return false;
  if (headerType?.endsWith('at+jwt') || kind === 'Bearer') return true;
  return ['scope', 'scp', 'client_id'].some(name => payload[name] !== undefined);
}

function rolesOf(claims: Readonly<Record<string, unknown>>, { claim, names }: RealmRoles): Role[] {
  let found: unknown = claims;
  // A claim may have dots in its own name, as addresses do.
  const path = Object.hasOwn(claims, claim) ? [claim] : claim.split('.');
  for (const member of path)
    found = isObject(found) && Object.hasOwn(found, member) ? found[member] : undefined;
  const named = typeof found === 'string' ? found.split(' ') : Array.isArray(found) ? found : [];
  const own = named.slice(0, MAX_ROLES).flatMap(name => {
    if (typeof name !== 'string') return [];
    return parseRole(names.get(name) ?? name) ?? [];
  });
  return [...new Set(own)].sort();
}

/** It becomes part of every session id. */
function shortName(client: string): string {
  return /^[\w.-]{0,64}$/.test(client) ? client : hash('sha256', client, 'base64url');
}

function reasonOf(thrown: unknown): RealmRefusal['reason'] {
  if (thrown instanceof PlatformError) return 'realm-unavailable';
  if (thrown instanceof errors.JWTExpired) return 'expired-token';
  if (thrown instanceof errors.JWSSignatureVerificationFailed) return 'bad-signature';
  if (thrown instanceof errors.JWKSNoMatchingKey) return 'unknown-signing-key';
  if (thrown instanceof errors.JWTClaimValidationFailed && thrown.claim === 'iss') return 'other-issuer';
  if (thrown instanceof errors.JOSEError || thrown instanceof TypeError) return 'bad-token';
  throw thrown;
}
