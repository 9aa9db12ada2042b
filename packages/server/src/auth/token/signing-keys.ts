import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { calculateJwkThumbprint, type JWK } from 'jose';
import type { Clock } from '../../kernel/clock.ts';
import type { Store } from '../../store/store.ts';
import { findOrInsertServerSecret } from '../../store/tables/server-secrets.ts';

/** What tokens of ours are signed with. All nodes on one database have the same. */
export interface SigningKeys {
  /** Tokens of the agent door: 32 bytes for HS256 (B-12). */
  readonly hs256: Uint8Array;
  /** Tokens of the operator door: a private key for ES256, with `kid`, `alg` and `use`. */
  readonly es256: JWK;
  /** Cookies of the authorization server: 32 bytes. */
  readonly cookie: Uint8Array;
}

/** The keys of this installation; the first start makes them. */
export async function loadSigningKeys(deps: {
  readonly store: Store;
  readonly clock: Clock;
}): Promise<SigningKeys> {
  const { store, clock } = deps;
  const secret = (name: string, fresh: Uint8Array) =>
    store.commit(db => findOrInsertServerSecret(db, name, fresh, clock.now()));
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const freshJwk = Buffer.from(JSON.stringify(privateKey.export({ format: 'jwk' })));
  const jwk = JSON.parse(Buffer.from(await secret('token-es256', freshJwk)).toString()) as JWK;
  return {
    hs256: await secret('token-hs256', randomBytes(32)),
    es256: { ...jwk, kid: await calculateJwkThumbprint(jwk), alg: 'ES256', use: 'sig' },
    cookie: await secret('oauth-cookie', randomBytes(32)),
  };
}
