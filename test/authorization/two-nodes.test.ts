import { startTestCluster, type TestCluster } from '@patchbay/testing/cluster';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBrowser, hiddenFields } from './browser.ts';
import { claimsOf, clientOf, newClient, post } from './rig.ts';

const base = 'https://bay.example';

describe('the authorization server of two nodes', () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await startTestCluster({ nodes: 2, env: { PATCHBAY_PUBLIC_URL: base } });
  });
  afterAll(() => cluster?.close());

  it('goes on at another node with each request: registered, sent, decided, redeemed, renewed and taken back', async () => {
    const one = cluster.nodes[0]!;
    const two = cluster.nodes[1]!;
    let turn = 0;
    const browser = createBrowser(base, (url, init) => {
      const node = turn++ % 2 === 0 ? one : two;
      return fetch(node.url + url.slice(base.length), init);
    });
    const { url } = await cluster.platform.links.make(cluster.platform.owner.id, 'sign-in');
    await browser.post(url, hiddenFields(await browser.get(url)));

    const { id } = await newClient({ url: one.url });
    const client = clientOf(base, id);
    const page = await browser.follow(await browser.get(client.authorizeUrl()));
    const form = { ...hiddenFields(page), decision: 'allow', agent: 'demo' };
    // Pressed twice, each press at another node.
    const [pressed] = await Promise.all([browser.post(page.url, form), browser.post(page.url, form)]);
    const { location } = await browser.follow(pressed);
    const code = location!.searchParams.get('code')!;
    const redeemed = await clientOf(two.url, id).redeem(code, { code_verifier: client.verifier });
    expect(redeemed.status).toBe(200);
    const renewed = await clientOf(one.url, id).refresh(redeemed.body.refresh_token!);
    expect(claimsOf(renewed.body.access_token).iss).toBe(base);

    const ping = (node: { url: string }) =>
      fetch(`${node.url}/demo/mcp`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${renewed.body.access_token}`,
          'content-type': 'application/json',
          'mcp-protocol-version': '2025-06-18',
        },
        body: '{}',
      }).then(({ status }) => status);
    expect([await ping(one), await ping(two)]).not.toContain(401);
    await post(`${two.url}/oauth/revoke`, { token: renewed.body.refresh_token, client_id: id });
    await expect.poll(async () => [await ping(one), await ping(two)]).toEqual([401, 401]);
  });

  it('gives one token for a code that is redeemed at both nodes at once, and then takes it back (attack 5)', async () => {
    const one = cluster.nodes[0]!;
    const two = cluster.nodes[1]!;
    const browser = createBrowser(base, (url, init) => fetch(one.url + url.slice(base.length), init));
    const { url } = await cluster.platform.links.make(cluster.platform.owner.id, 'sign-in');
    await browser.post(url, hiddenFields(await browser.get(url)));
    const { id } = await newClient({ url: one.url });
    for (let round = 0; round < 5; round += 1) {
      const client = clientOf(base, id);
      const page = await browser.follow(await browser.get(client.authorizeUrl()));
      const { location } = await browser.follow(
        await browser.post(page.url, { ...hiddenFields(page), decision: 'allow', agent: 'demo' }),
      );
      const code = location!.searchParams.get('code')!;
      const answers = await Promise.all(
        [one, two, one, two].map(node =>
          clientOf(node.url, id).redeem(code, { code_verifier: client.verifier }),
        ),
      );
      const given = answers.filter(({ status }) => status === 200);
      expect(given.length).toBeLessThanOrEqual(1);
      for (const { body } of given) {
        const renewed = await clientOf(two.url, id).refresh(body.refresh_token!);
        expect(renewed.body.error).toBe('invalid_grant');
      }
    }
  });
});
