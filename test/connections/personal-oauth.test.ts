import { type Client, createClient } from '@patchbay/contract/client';
import { startTestCluster, type TestCluster } from '@patchbay/testing/cluster';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { toolCallingAgent } from '../mcpcalls/calling-agent.ts';
import { signedIn, type Visitor } from '../people/following-visitor.ts';
import { PERSONAL_ENV } from './personal-rig.ts';
import { type ProtectedServer, startProtectedServer, type TokenAnswer } from './servers/protected-server.ts';

const LINK = /(http:\/\/\S+\/connect\/pause_\w+)/;

describe('people who signed in at a server with OAuth, on two nodes', () => {
  let cluster: TestCluster;
  let server: ProtectedServer;
  /** What the authorization server answers instead of a new token to whoever renews one. */
  let renewals: TokenAnswer[];
  /** Scopes that calls lack. */
  let missing: string | undefined;
  let person: { readonly userId: string; readonly key: string };
  let clients: readonly Client[];
  let browser: Visitor;
  beforeAll(async () => {
    server = await startProtectedServer({
      tools: ['look'],
      say: authorization => `seen with the token number ${authorization?.split('-').at(-1)}`,
      metadata: own => ({ ...own, scopes_supported: ['read', 'write'] }),
      token: (form, earlier) => {
        const renewal = form.get('grant_type') === 'refresh_token' ? renewals.shift() : undefined;
        if (renewal) return renewal;
        const number = earlier + 1;
        return {
          body: {
            access_token: `t-${number}`,
            refresh_token: `r-${number}`,
            token_type: 'Bearer',
            expires_in: 3600,
          },
        };
      },
      refuse(token) {
        if (token === undefined || !server.valid.has(token))
          return { status: 401, challenge: 'Bearer scope="read"' };
        return missing === undefined
          ? undefined
          : { status: 403, challenge: `Bearer error="insufficient_scope", scope="${missing}"` };
      },
    });
    cluster = await startTestCluster({ nodes: 2, env: PERSONAL_ENV });
  }, 60_000);
  afterAll(async () => {
    await cluster?.close();
    await server?.[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    renewals = [];
    missing = undefined;
    person = await cluster.addPerson(['patchbay-admin']);
    clients = cluster.nodes.map(({ url }) => createClient({ baseUrl: url, token: person.key, fetch }));
    browser = await signedIn(cluster, person.userId);
    await clients[0]!.call('add_server', {
      ...{ name: 'linear', replace: true },
      options: { url: server.url, credentialName: 'linear', oauth: {}, gated: false },
    });
    await clients[0]!.call('deploy_agent_file', {
      file: toolCallingAgent(agentId(), {
        mcpServerUrl: 'patchbay:servers/linear',
        mcpCalls: [{ name: 'look', toolName: 'look' }],
      }),
    });
  });

  const agentId = () => `looker-${person.userId.slice(-6).toLowerCase()}`;
  const talk = () => clients[0]!.call('chat_with_agent', { agentId: agentId(), message: 'look' });
  const call = (node = 0) =>
    clients[node]!.call('call_server_tool', { name: 'linear', tool: 'look', arguments: {} });
  const pageFor = async () => {
    const { agentResponse } = await talk();
    return browser.get(LINK.exec(agentResponse ?? '')![1]!);
  };
  async function signIn(): Promise<void> {
    const done = await browser.send(await pageFor(), 'name="server"');
    expect(done.text).toContain('Connected');
  }
  const grants = (from: number) => server.tokenRequests.slice(from).map(({ form }) => form.get('grant_type'));
  const reasons = async () => {
    const { events } = await clients[0]!.call('list_audit_events', { limit: 200 });
    return events.filter(({ userId }) => userId === person.userId).map(({ subject }) => subject?.reason);
  };

  it('renew a refused token once, however many calls meet the refusal on all nodes (W-80, attack 11)', async () => {
    await signIn();
    await Promise.all([call(0), call(1)]);
    server.valid.clear();
    const before = server.tokenRequests.length;
    const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => call(index % 2)));
    expect(new Set(answers.map(({ outcome }) => outcome))).toEqual(new Set(['answered']));
    expect(grants(before)).toEqual(['refresh_token']);
  });

  it('keep what they have when the authorization server fails, and are asked again only when it takes the token no more (W-80, attack 11)', async () => {
    await signIn();
    server.valid.clear();
    renewals = [{ status: 500, body: { error: 'server_error' } }];
    expect(await call()).toMatchObject({ outcome: 'failed', code: 'AUTHENTICATION_FAILED' });
    expect(await call()).toMatchObject({ outcome: 'answered' });
    server.valid.clear();
    renewals = [{ status: 400, body: { error: 'invalid_grant' } }];
    const before = server.tokenRequests.length;
    expect(await call(1)).toMatchObject({ outcome: 'refused', code: 'SIGN_IN_NEEDED' });
    expect(await call()).toMatchObject({ outcome: 'refused', code: 'SIGN_IN_NEEDED' });
    expect(grants(before)).toEqual(['refresh_token']);
    await signIn();
    expect(await call(1)).toMatchObject({ outcome: 'answered' });
  });

  it('are asked for the scopes that a tool lacks besides those they gave (attack 16)', async () => {
    await signIn();
    missing = 'write';
    const waiting = await talk();
    const page = await browser.get(LINK.exec(waiting.agentResponse!)![1]!);
    browser.staysAt(cluster.url);
    const away = await browser.send(page, 'name="server"');
    expect(new URL(away.url).searchParams.get('scope')!.split(' ').toSorted()).toEqual(['read', 'write']);
    browser.staysAt(undefined);
    missing = undefined;
    expect((await browser.get(away.url)).text).toContain('Connected');
    const { conversationId } = waiting;
    await expect
      .poll(async () =>
        JSON.stringify(
          (await clients[0]!.call('read_conversation', { conversationId: conversationId! }))
            .conversationOutputs,
        ),
      )
      .toContain('seen with the token number');
  });

  it('come back only from where they were sent, once, in the browser that they left with (attack 9)', async () => {
    const page = await pageFor();
    browser.staysAt(cluster.url);
    const away = new URL((await browser.send(page, 'name="server"')).url);
    const back = (state: string, more = '') =>
      `${cluster.url}/connect/callback?state=${encodeURIComponent(state)}&code=abc${more}`;
    const state = away.searchParams.get('state')!;
    const before = server.tokenRequests.length;
    expect((await browser.get(`${cluster.url}/connect/callback?code=abc`)).status).toBe(400);
    const stranger = await cluster.addPerson(['patchbay-user']);
    expect((await (await signedIn(cluster, stranger.userId)).get(back(state))).status).toBe(400);
    const mixedUp = await browser.get(
      back(state, `&iss=https://evil.test&error=nope&error_description=${encodeURIComponent('Call 555')}`),
    );
    expect(mixedUp.status).toBe(400);
    expect(mixedUp.text).toContain('not from the authorization server that was asked');
    expect(mixedUp.text).not.toContain('555');
    expect((await browser.get(back(state))).text).toContain('is over already');

    const again = new URL((await browser.send(page, 'name="server"')).url);
    const otherBrowser = await signedIn(cluster, person.userId);
    const elsewhere = await otherBrowser.get(back(again.searchParams.get('state')!));
    expect(elsewhere.text).toContain('in another browser');
    expect(grants(before)).toEqual([]);
    await expect
      .poll(reasons)
      .toEqual(expect.arrayContaining(['sign-in-unknown', 'wrong-issuer', 'other-browser']));
  });

  it('are away with PKCE, a state that nobody keeps in the open, and a resource', async () => {
    browser.staysAt(cluster.url);
    const { searchParams } = new URL((await browser.send(await pageFor(), 'name="server"')).url);
    expect(searchParams.get('code_challenge_method')).toBe('S256');
    expect(searchParams.get('resource')).toBe(server.url);
    const rows = await cluster.platform.store.db.selectFrom('server_sign_ins').selectAll().execute();
    expect(rows.length).toBeGreaterThan(0);
    const kept = JSON.stringify(
      rows.map(({ sealed, ...row }) => ({ ...row, text: Buffer.from(sealed).toString() })),
    );
    for (const name of ['state', 'code_challenge', 'client_id'])
      expect(kept).not.toContain(searchParams.get(name));
  });
});
