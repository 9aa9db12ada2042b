import type { Client } from '@modelcontextprotocol/client';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CALLBACK, claimsOf, consentPage, decide, newClient, signedIn } from './rig.ts';
import { createSdkHost } from './sdk-host.ts';

describe('a client that a person lets in', () => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await startTestPlatform();
  });
  afterAll(() => platform.close());

  it('is registered, sends the browser, and gets a code and tokens (B-25, B-26, B-27, B-28, B-29, B-30, B-39)', async () => {
    const client = await newClient(platform);
    expect(client.id).toMatch(/^client_/);
    const browser = await signedIn(platform);
    const sent = await browser.get(client.authorizeUrl());
    expect([sent.status, sent.location?.pathname]).toEqual([303, '/mcp-login']);
    expect(sent.location?.searchParams.get('return_to')).toMatch(`${platform.url}/oauth/authorize/`);
    const page = await browser.follow(sent);
    for (const shown of ['An editor', '127.0.0.1:33418', 'value="demo"']) expect(page.text).toContain(shown);
    expect(page.text).not.toContain('checked');
    const { location } = await decide(browser, page);
    expect(location?.href.startsWith(`${CALLBACK}?`)).toBe(true);
    expect(location?.searchParams.get('state')).toBe('a state, +unchanged/=&%');
    expect(location?.searchParams.get('iss')).toBe(platform.url);
    const { status, body } = await client.redeem(location!.searchParams.get('code')!);
    expect(status, JSON.stringify(body)).toBe(200);
    expect(claimsOf(body.access_token)).toMatchObject({
      iss: platform.url,
      aud: platform.url,
      sub: platform.platform.owner.id,
      client_id: client.id,
      scope: 'agents',
    });
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 3600, refresh_token: expect.any(String) });
  });

  const DOORS = [
    {
      door: 'agent',
      url: () => platform.agentUrl('demo'),
      agents: ['demo'],
      lasts: 3600,
      call: { name: 'demo', arguments: { message: 'hello' } },
    },
    {
      door: 'operator',
      url: () => platform.operatorUrl,
      agents: [],
      lasts: 900,
      call: { name: 'list_agents', arguments: {} },
    },
  ];
  describe.each(DOORS)('with the official SDK at the $door door', ({ url, agents, lasts, call }) => {
    it.each([
      { era: '2025-11-25', mode: 'legacy' },
      { era: '2026-07-28', mode: { pin: '2026-07-28' } },
    ] as const)(
      'goes from 401 to a call, and comes back with a refresh token, in $era (B-31, B-34, B-88)',
      async ({ mode }) => {
        const host = createSdkHost(url());
        await expect(host.connect(mode)).rejects.toThrow();
        const browser = await signedIn(platform);
        const answer = await decide(browser, await consentPage(browser, host.browserUrl()), 'allow', agents);
        expect(answer.location?.searchParams.get('state')).toBe('its own');
        await host.finish(answer.location!);
        const callIt = async (client: Client) => {
          const { isError, content } = await client.callTool(call);
          expect(isError, JSON.stringify(content)).toBeFalsy();
          await client.close();
        };
        await callIt(await host.connect(mode));
        const before = host.tokens!;
        await callIt(await host.connect(mode));
        expect(host.tokens).toEqual(before);
        const { iat, exp } = claimsOf(before.access_token) as { iat: number; exp: number };
        expect([before.expires_in, exp - iat]).toEqual([lasts, lasts]);
        // What a host finds when its token has run out.
        host.tokens = { ...before, access_token: 'over' };
        await callIt(await host.connect(mode));
        expect(host.tokens.refresh_token).not.toBe(before.refresh_token);
        expect(claimsOf(host.tokens.access_token).grant).toBe(claimsOf(before.access_token).grant);
      },
    );
  });
});
