import type { TestNode } from '@patchbay/testing/platform';
import { type CryptoKey, importJWK, SignJWT } from 'jose';
import { loadSigningKeys } from '../../packages/server/src/auth/token/signing-keys.ts';
import { systemClock } from '../../packages/server/src/kernel/clock.ts';
import { newKeyId } from '../../packages/server/src/kernel/ids.ts';
import { type GrantRecord, insertGrant } from '../../packages/server/src/store/tables/grants.ts';

const CLIENT = 'client-of-tests';

/** What a token says; each member replaces what a good one would say, `undefined` leaves it out. */
export interface Said {
  readonly header?: Readonly<Record<string, unknown>>;
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly key?: Parameters<SignJWT['sign']>[0];
}

/** Grants and tokens as the authorization server would issue them, and as it never would. */
export async function createTokenKit(
  platform: Pick<TestNode, 'platform' | 'url' | 'operatorUrl' | 'agentUrl'>,
) {
  const { store } = platform.platform;
  const keys = await loadSigningKeys({ store, clock: systemClock });
  const es256 = (await importJWK(keys.es256, 'ES256')) as CryptoKey;
  const now = () => Math.floor(Date.now() / 1000);

  async function allow(userId: string, given: Partial<GrantRecord> = {}): Promise<GrantRecord> {
    const grant: GrantRecord = {
      id: `grant_${newKeyId()}`,
      userId,
      clientId: CLIENT,
      clientName: 'Tests',
      door: 'agents',
      agentIds: [],
      scope: given.door === 'operator' ? 'openid' : 'agents',
      createdAt: Date.now(),
      expiresAt: Date.now() + 3_600_000,
      revokedAt: undefined,
      ...given,
    };
    await store.commit(db => insertGrant(db, grant));
    return grant;
  }

  function sign(grant: GrantRecord, aud: string, said: Said = {}): Promise<string> {
    const isOperator = grant.door === 'operator';
    return new SignJWT({
      iss: platform.url,
      aud,
      sub: grant.userId,
      client_id: grant.clientId,
      iat: now(),
      exp: now() + 600,
      jti: newKeyId(),
      scope: grant.scope,
      grant: grant.id,
      ...said.claims,
    })
      .setProtectedHeader({
        ...(isOperator ? { alg: 'ES256', kid: keys.es256.kid! } : { alg: 'HS256' }),
        typ: 'at+jwt',
        ...said.header,
      })
      .sign(said.key ?? (isOperator ? es256 : keys.hs256));
  }

  return {
    keys,
    now,
    allow,
    /** A token for every agent of the grant, or for one. */
    agentToken: (grant: GrantRecord, said?: Said & { readonly agentId?: string }) =>
      sign(grant, said?.agentId === undefined ? platform.url : platform.agentUrl(said.agentId), said),
    operatorToken: (grant: GrantRecord, said?: Said) => sign(grant, platform.operatorUrl, said),
  };
}

export type TokenKit = Awaited<ReturnType<typeof createTokenKit>>;
