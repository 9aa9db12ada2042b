import { type Client, createClient } from '@patchbay/contract/client';
import type { TestNode, TestPlatform } from '@patchbay/testing/platform';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PERSONAL_ENV } from '../connections/personal-rig.ts';
import { type ProtectedServer, startProtectedServer } from '../connections/servers/protected-server.ts';
import { platforms } from '../doors/platforms.ts';
import { toolCallingAgent } from '../mcpcalls/calling-agent.ts';
import { newVisitor, signedIn, type Visitor } from '../people/following-visitor.ts';
import { type Message, openSession, statelessCall } from './raw-client.ts';

const AGENT = 'looker';
const URLS = { elicitation: { url: {} } };
const LINK = /(http:\/\/\S+\/connect\/pause_\w+)/;

describe.each(platforms)('a person who has to sign in at a server, at $kind', ({ start }) => {
  let platform: TestPlatform;
  let one: TestNode;
  let other: TestNode;
  let server: ProtectedServer;
  let person: { readonly userId: string; readonly key: string };
  let client: Client;
  let browser: Visitor;
  beforeAll(async () => {
    server = await startProtectedServer({
      tools: ['look'],
      say: authorization => `seen with the token number ${authorization?.split('-').at(-1)}`,
    });
    platform = await start({
      env: { ...PERSONAL_ENV, PATCHBAY_AGENT_DOOR_RATE: '0' },
    });
    const { nodes = [platform] } = platform as TestPlatform & { nodes?: TestNode[] };
    [one, other] = [nodes[0]!, nodes.at(-1)!];
  });
  afterAll(async () => {
    await platform?.close();
    await server?.[Symbol.asyncDispose]();
  });
  /** Each time somebody who has not signed in yet. */
  beforeEach(async () => {
    person = await platform.addPerson(['patchbay-admin']);
    client = createClient({ baseUrl: one.url, token: person.key, fetch });
    browser = await signedIn(one, person.userId);
    await client.call('add_server', {
      ...{ name: 'linear', replace: true },
      options: { url: server.url, credentialName: 'linear', oauth: {}, gated: false },
    });
    await client.call('deploy_agent_file', {
      file: {
        ...toolCallingAgent(`${AGENT}-${person.userId.slice(-6).toLowerCase()}`, {
          mcpServerUrl: 'patchbay:servers/linear',
          mcpCalls: [{ name: 'look', toolName: 'look' }],
        }),
      },
    });
  });
  afterEach(async () => {
    await client.call('remove_server', { name: 'linear' });
  });

  const agentId = () => `${AGENT}-${person.userId.slice(-6).toLowerCase()}`;
  async function talk(message: string, conversationId?: string) {
    return client.call('chat_with_agent', { agentId: agentId(), message, conversationId });
  }
  /** Signs in with a browser, which comes back to the other node. */
  async function signIn(link: string, by = browser) {
    const page = await by.get(link);
    return by.send(page, 'name="server"');
  }
  const linkIn = (text: string | undefined) => LINK.exec(text ?? '')![1]!;
  const ended = async (conversationId: string) => {
    await expect
      .poll(async () => (await client.call('read_conversation', { conversationId })).conversationState)
      .toBe('READY');
    const { conversationOutputs } = await client.call('read_conversation', { conversationId });
    return conversationOutputs!.at(-1)!.output![0]!.text;
  };
  const textOf = (message: Message | undefined) => message?.result?.content[0].text as string;

  it('is told where, signs in with a browser, and the turn goes on with their credential (W-75, W-84)', async () => {
    const waiting = await talk('look');
    expect(waiting).toMatchObject({ pauseType: 'SIGN_IN', quickReplies: ['Cancel'] });
    expect(waiting.status).toBeUndefined();
    const done = await signIn(linkIn(waiting.agentResponse));
    expect(done.text).toContain('Connected');
    expect(await ended(waiting.conversationId!)).toContain('seen with the token number ');
    expect((await talk('look', waiting.conversationId)).agentResponse).toContain(
      'seen with the token number ',
    );
  });

  it('may say no, on the page or in the conversation (W-81)', async () => {
    const first = await talk('look');
    const page = await browser.get(linkIn(first.agentResponse));
    const over = await browser.send(page, 'value="decline"');
    expect(over.text).toContain('Nobody waits for this any more');
    expect(await ended(first.conversationId!)).toContain('SIGN_IN_DECLINED');
    const second = await talk('look');
    expect((await talk('cancel', second.conversationId)).agentResponse).toContain('SIGN_IN_DECLINED');
  });

  it('pastes a token where the server has no sign-in of its own, and takes it back on their account page (W-84)', async () => {
    await client.call('add_server', {
      ...{ name: 'linear', replace: true },
      options: { url: server.url, credentialName: 'linear', gated: false },
    });
    server.valid.add('pasted-77');
    const waiting = await talk('look');
    const page = await browser.get(linkIn(waiting.agentResponse));
    const refused = await browser.send(page, 'name="token"', { token: 'two\nlines' });
    expect([refused.status, refused.text.includes('role="alert"')]).toEqual([422, true]);
    const done = await browser.send(page, 'name="token"', { token: ' pasted-77 ' });
    expect(done.text).toContain('Connected');
    expect(await ended(waiting.conversationId!)).toContain('seen with the token number 77');
    const account = await browser.get(`${platform.url}/account`);
    expect(account.text).not.toContain('pasted-77');
    const after = await browser.send(account, 'value="linear"');
    expect(after.text).toContain('It is disconnected.');
    expect((await talk('look')).pauseType).toBe('SIGN_IN');
  });

  it('opens a page that is theirs alone; somebody else who follows the address is refused and noted (confused deputy)', async () => {
    const waiting = await talk('look');
    const link = linkIn(waiting.agentResponse);
    const stranger = await platform.addPerson(['patchbay-admin']);
    const page = await (await signedIn(other, stranger.userId)).get(link);
    expect([page.status, page.text.includes('Somebody else has to sign in here')]).toEqual([403, true]);
    const nobody = await newVisitor().get(link);
    expect(new URL(nobody.url).pathname).toBe('/sign-in');
    const refused = async () => {
      const { events } = await client.call('list_audit_events', { limit: 200 });
      return events.map(({ userId, subject }) => [userId, subject?.reason]);
    };
    await expect.poll(refused).toContainEqual([stranger.userId, 'not-your-sign-in']);
    expect((await browser.get(link)).status).toBe(200);
  });

  describe('at the agent door', () => {
    it('is asked with the address in the older eras, and hears the answer on the stream', async () => {
      const session = await openSession(one.agentUrl(agentId()), person.key, { capabilities: URLS });
      const call = await session.call({ message: 'look' }, { params: { name: agentId() } });
      const question = (await call.next())!;
      expect(question).toMatchObject({
        method: 'elicitation/create',
        params: { mode: 'url', elicitationId: question.id, url: expect.stringMatching(LINK) },
      });
      const taken = await session.answer(question.id, { action: 'accept' }, other.agentUrl(agentId()));
      expect(taken.status).toBe(202);
      await signIn(question.params.url);
      const messages = await call.rest();
      expect(messages.map(({ method }) => method ?? 'result')).toContain(
        'notifications/elicitation/complete',
      );
      expect(textOf(messages.at(-1))).toContain('seen with the token number ');
    });

    it('is asked with the address in the stateless era, and the repeat waits until they have signed in', async () => {
      const params = { arguments: { message: 'look' } };
      const options = { capabilities: URLS, name: agentId() };
      const { last } = await statelessCall(one.agentUrl(agentId()), person.key, params, options);
      const { inputRequests, requestState } = last.result;
      const [id, request] = Object.entries(inputRequests)[0] as [string, { params: { url: string } }];
      expect(request.params).toMatchObject({ mode: 'url', url: expect.stringMatching(LINK) });
      const inputResponses = { [id]: { action: 'accept' } };
      const repeat = statelessCall(
        other.agentUrl(agentId()),
        person.key,
        { ...params, requestState, inputResponses },
        options,
      );
      await signIn(request.params.url);
      expect(textOf((await repeat).last)).toContain('seen with the token number ');
    });

    it('says no', async () => {
      const session = await openSession(one.agentUrl(agentId()), person.key, { capabilities: URLS });
      const call = await session.call({ message: 'look' }, { params: { name: agentId() } });
      const { id } = (await call.next())!;
      await session.answer(id, { action: 'decline' });
      expect(textOf((await call.rest()).at(-1))).toContain('SIGN_IN_DECLINED');
    });

    it('gets the address as a text where the client opens none, and goes on in the same context', async () => {
      const session = await openSession(one.agentUrl(agentId()), person.key);
      const call = await session.call({ message: 'look' }, { params: { name: agentId() } });
      const result = (await call.rest()).at(-1)!.result;
      const { context_id, quick_replies } = result.structuredContent;
      expect(quick_replies).toEqual(['Cancel']);
      await signIn(linkIn(result.content[0].text));
      expect(await ended(context_id)).toContain('seen with the token number ');
    });
  });
});
