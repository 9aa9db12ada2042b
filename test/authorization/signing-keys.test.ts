import { engines, openTestStore } from '@patchbay/testing/stores';
import { importJWK, jwtVerify, SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { loadSigningKeys } from '../../packages/server/src/auth/token/signing-keys.ts';
import { systemClock as clock } from '../../packages/server/src/kernel/clock.ts';

describe.each(engines)('the keys that tokens are signed with, on %s', engine => {
  it('are made once, and are the same on every node and after a restart', async () => {
    await using store = await openTestStore(engine);
    const [first, second] = await Promise.all([
      loadSigningKeys({ store, clock }),
      loadSigningKeys({ store, clock }),
    ]);
    expect(second).toEqual(first);
    expect(first.hs256).toHaveLength(32);
    expect(first.cookie).toHaveLength(32);
    expect(first.cookie).not.toEqual(first.hs256);
  });

  it('sign with ES256, and are found by their id', async () => {
    await using store = await openTestStore(engine);
    const { es256 } = await loadSigningKeys({ store, clock });
    const { d: _, ...publicKey } = es256;
    const token = await new SignJWT({})
      .setProtectedHeader({ alg: 'ES256', kid: es256.kid! })
      .sign(await importJWK(es256, 'ES256'));
    await expect(jwtVerify(token, await importJWK(publicKey, 'ES256'))).resolves.toMatchObject({
      protectedHeader: { kid: es256.kid },
    });
    expect(publicKey).toMatchObject({ kty: 'EC', crv: 'P-256', use: 'sig', alg: 'ES256' });
  });
});
