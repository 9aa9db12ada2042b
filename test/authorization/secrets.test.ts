import { startTestCluster } from '@patchbay/testing/cluster';
import { startTestPlatform } from '@patchbay/testing/platform';
import { engines } from '@patchbay/testing/stores';
import { describe, expect, it } from 'vitest';
import { dumpFolder, dumpTables } from '../canary.ts';
import {
  basic,
  clientOf,
  codeFor,
  consentPage,
  decide,
  newClient,
  proofOf,
  type RegisteredClient,
  register,
  signedIn,
} from './rig.ts';

describe.each(engines)('what passes through the authorization server, on %s', engine => {
  it('is kept nowhere as it was: no code, no verifier, no token, no secret of a client and no sign-in under way (attack 46)', async () => {
    const platform =
      engine === 'sqlite' ? await startTestPlatform() : await startTestCluster({ nodes: 1, env: {} });
    try {
      const browser = await signedIn(platform);
      const client = await newClient(platform);
      const secrets: Record<string, string> = { verifier: client.verifier };
      const sent = await browser.get(client.authorizeUrl());
      secrets.interaction = new URL(sent.location!.searchParams.get('return_to')!).pathname
        .split('/')
        .at(-1)!;
      const { location } = await decide(browser, await browser.follow(sent));
      secrets.code = location!.searchParams.get('code')!;
      // One that is still good, and one that nobody redeems.
      const open = await decide(browser, await consentPage(browser, client.authorizeUrl()));
      secrets.open = open.location!.searchParams.get('code')!;
      const { body } = await client.redeem(secrets.code);
      secrets.access = body.access_token!;
      secrets.refresh = body.refresh_token!;
      const renewed = await client.refresh(body.refresh_token!);
      secrets.renewed = renewed.body.refresh_token!;
      await client.redeem(secrets.code);
      await clientOf(platform.url, 'client_none').refresh(secrets.renewed);
      await client.refresh('wrong', { client_secret: secrets.verifier });

      for (const method of ['client_secret_post', 'client_secret_basic']) {
        const answer = await register(platform.url, { token_endpoint_auth_method: method });
        const registered = (await answer.json()) as RegisteredClient;
        const { client_id: id, client_secret: secret } = registered;
        secrets[method] = secret!;
        secrets[`${method} in a header`] = basic(id, secret!).slice('Basic '.length);
        const proving = clientOf(platform.url, id);
        const redeemed = await proving.redeem(
          await codeFor(browser, proving.authorizeUrl()),
          ...proofOf(registered),
        );
        expect(redeemed.status).toBe(200);
        // Refused ones are written about.
        await client.refresh(redeemed.body.refresh_token!, { client_secret: secret });
        await proving.refresh(
          'x',
          { client_id: undefined },
          { authorization: basic('client_none', secret!) },
        );
      }

      const rows = await dumpTables(platform.platform.store);
      expect(rows.authorization_records?.length).toBeGreaterThan(1);
      const places = {
        ...rows,
        log: platform.logLines(),
        ...(engine === 'sqlite' ? await dumpFolder(platform.dataDir) : {}),
      };
      const found = Object.entries(secrets).flatMap(([name, secret]) =>
        Object.entries(places)
          .filter(([, place]) => textOf(place).includes(secret))
          .map(([place]) => `${name} in ${place}`),
      );
      expect(found).toEqual([]);
      // It is looked for in the right place: a client's id is no secret.
      expect(textOf(rows.authorization_records)).toContain(client.id);
    } finally {
      await platform.close();
    }
  });
});

function textOf(place: unknown): string {
  return place instanceof Uint8Array ? Buffer.from(place).toString('latin1') : JSON.stringify(place);
}
