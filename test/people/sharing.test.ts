import { createClient } from '@patchbay/contract/client';
import type { Role } from '@patchbay/contract/roles';
import type { TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { platforms } from '../doors/platforms.ts';
import { callTool, rpc, toolError } from '../doors/wire.ts';
import { agentsKey, answeringAgent, rest } from '../rest/rest-client.ts';

describe.each(platforms)('sharing an agent, on $kind', ({ start }) => {
  let platform: TestPlatform;
  /** Each test has an agent of its own, and people of their own. */
  let agentId: string;
  let count = 0;
  let ann: Person;
  let bob: Person;
  beforeAll(async () => {
    platform = await start();
  });
  afterAll(() => platform?.close());
  beforeEach(async () => {
    count += 1;
    agentId = `helper-${count}`;
    ann = await person('patchbay-editor');
    bob = await person('patchbay-user');
    await ann.client.call('deploy_agent_file', { file: answeringAgent(agentId, 'At your service.') });
  });

  interface Person {
    readonly userId: string;
    /** Of scope `operator`. */
    readonly key: string;
    readonly client: ReturnType<typeof createClient>;
  }

  async function person(...roles: Role[]): Promise<Person> {
    const added = await platform.addPerson(roles);
    return { ...added, client: createClient({ baseUrl: platform.url, token: added.key, fetch }) };
  }

  const sharedKey = async ({ userId }: Person) =>
    (await platform.platform.keys.createUserKey(userId, { name: 'x', scopes: ['agents'], shared: true }))
      .token;

  const share = (grantee: string) => ann.client.call('share_agent', { agentId, with: grantee });
  const unshare = (grantee: string) => ann.client.call('unshare_agent', { agentId, with: grantee });

  const atTheDoor = async (key: string) =>
    (await callTool(platform.agentUrl(agentId), agentId, { message: 'hello' }, { key })).status;

  /** What the operator door says to somebody who wants to talk to the agent. */
  async function atTheOperatorDoor({ key }: Person, args: Record<string, unknown> = {}) {
    const said = await callTool(
      platform.operatorUrl,
      'chat_with_agent',
      { agentId, message: 'hello', ...args },
      { key },
    );
    return toolError(said)?.errorCode ?? said.body.result.structuredContent;
  }

  const found = async ({ client }: Person) =>
    (await client.call('discover_agents', {})).agents.map(agent => agent.agentId);

  it('gives nobody the words with which its conversations begin: a trigger is for who may change the agent (our own)', async () => {
    const carl = await person('patchbay-editor');
    await share(`user:${carl.userId}`);
    const body = { intent: `ask-${agentId}`, agentDeployments: [{ agentId, environment: 'production' }] };
    const make = ({ client }: Person) =>
      client.call('create_agent_trigger', { config: JSON.stringify(body) });
    await expect(make(carl)).rejects.toMatchObject({ code: 'agent_not_found' });
    await expect(make(ann)).resolves.toMatchObject({ intent: body.intent });
  });

  it('is not done by itself: an agent is its owner’s, for lists, for REST and at both doors', async () => {
    expect(await found(ann)).toEqual([agentId]);
    expect(await found(bob)).toEqual([]);
    expect(await atTheOperatorDoor(bob)).toBe('NOT_FOUND');
    expect(await atTheDoor(await sharedKey(bob))).toBe(401);
    expect(await atTheDoor(await sharedKey(ann))).toBe(200);
    expect(await ann.client.call('list_agent_shares', { agentId })).toEqual({
      agentId,
      count: 0,
      shares: [],
    });
  });

  it.each([
    ['a person', () => `user:${bob.userId}`],
    ['a role', () => 'role:patchbay-user'],
    ['a role by its name in EDDI', () => 'role:eddi-user'],
    ['everyone', () => 'everyone'],
  ])('with %s lets them find it and talk to it, until it is shared no more', async (_, grantee) => {
    const key = await sharedKey(bob);
    await share(grantee());
    expect(await found(bob)).toContain(agentId);
    expect(await atTheOperatorDoor(bob)).toMatchObject({ conversationState: 'READY' });
    expect(await atTheDoor(key)).toBe(200);
    expect(
      (await rest(platform.url, 'POST', `/agents/${agentId}/invoke`, { key, body: { message: 'hello' } }))
        .status,
    ).toBe(200);
    const { body } = await rest(platform.url, 'GET', `/agents/${agentId}`, { key });
    expect(body).toMatchObject({ id: agentId, shared: true });

    await unshare(grantee());
    await expect.poll(() => atTheDoor(key), { interval: 2 }).toBe(401);
    expect(await atTheOperatorDoor(bob)).toBe('NOT_FOUND');
    expect(await found(bob)).not.toContain(agentId);
    expect((await rest(platform.url, 'GET', `/agents/${agentId}`, { key })).status).toBe(404);
  });

  it('opens it to no key that was not made for shared agents (B-15)', async () => {
    await share('everyone');
    expect(await atTheDoor(await agentsKey(platform, bob.userId))).toBe(401);
    // An operator key opens what is shared where operators are, and the agent door only to own agents.
    expect(await atTheDoor(bob.key)).toBe(401);
    expect(await atTheDoor(await sharedKey(bob))).toBe(200);
  });

  it('with others says nothing to those it is not shared with', async () => {
    const eve = await person('patchbay-viewer');
    await share(`user:${bob.userId}`);
    await share('role:patchbay-approver');
    expect(await found(eve)).not.toContain(agentId);
    expect(await atTheOperatorDoor(eve)).toBe('NOT_FOUND');
    expect(await atTheDoor(await sharedKey(eve))).toBe(401);
  });

  it('gives its use and nothing else: no document, no key, no change, no share of it', async () => {
    await share('everyone');
    const eve = await person('patchbay-editor');
    const tries = [
      ['get_agent', { agentId }],
      ['read_document', { type: 'agent', id: agentId }],
      ['list_agent_resources', { agentId }],
      ['read_workflow', { workflowId: agentId }],
      ['export_agent', { agentId }],
      ['undeploy_agent', { agentId, version: 1 }],
      ['delete_agent', { agentId, version: 1 }],
      ['change_own_agent', { agentId, mcp_enabled: false }],
      ['list_agent_keys', { agentId }],
      ['list_agent_shares', { agentId }],
      ['share_agent', { agentId, with: `user:${eve.userId}` }],
      ['unshare_agent', { agentId, with: 'everyone' }],
    ] as const;
    for (const [name, args] of tries) {
      const refused = await eve.client.call(name, args as never).catch((error: { status: number }) => error);
      expect(refused, name).toMatchObject({ status: expect.toBeOneOf([403, 404]) });
    }
    const listed = await eve.client.call('list_agent_configs', {});
    expect(JSON.stringify(listed)).not.toContain(agentId);
    expect(await found(eve)).toContain(agentId);
  });

  it('gives everybody conversations of their own: nobody reads those of another, its owner neither', async () => {
    await share('everyone');
    const eve = await person('patchbay-user');
    const { conversationId } = (await atTheOperatorDoor(bob)) as { conversationId: string };
    expect(await bob.client.call('read_conversation_log', { conversationId })).toMatchObject({
      log: expect.stringContaining('At your service.'),
    });
    for (const other of [ann, eve]) {
      const read = await other.client
        .call('read_conversation', { conversationId })
        .catch((error: { status: number }) => error.status);
      expect(read).toBeOneOf([403, 404]);
      expect((await other.client.call('list_conversations', { agentId })).count).toBe(0);
      expect(await atTheOperatorDoor(other, { conversationId })).toBeOneOf(['FORBIDDEN', 'NOT_FOUND']);
    }
    expect((await bob.client.call('list_conversations', { agentId })).count).toBe(1);
  });

  it('that has ended ends the conversations, which their people still read', async () => {
    await share('everyone');
    const { conversationId } = (await atTheOperatorDoor(bob)) as { conversationId: string };
    await unshare('everyone');
    expect(await atTheOperatorDoor(bob, { conversationId })).toBe('NOT_FOUND');
    expect(await bob.client.call('read_conversation_log', { conversationId })).toMatchObject({
      log: expect.stringContaining('At your service.'),
    });
  });

  it('with a role ends for whoever loses it, at once (attack 14)', async () => {
    const key = await sharedKey(bob);
    await share('role:patchbay-user');
    expect(await atTheDoor(key)).toBe(200);
    await platform.platform.users.setRoles(bob.userId, ['patchbay-viewer']);
    await expect.poll(() => atTheDoor(key), { interval: 2 }).toBe(401);
    await platform.platform.users.setRoles(bob.userId, ['patchbay-user']);
    expect(await atTheDoor(key)).toBe(200);
  });

  it('works for tasks in the background, too', async () => {
    await share('role:patchbay-user');
    const { task_id } = await bob.client.call('create_task', { agentId, message: 'hello' });
    await expect
      .poll(async () => (await bob.client.call('read_task', { task_id })).result)
      .toMatchObject({ text: 'At your service.' });
  });

  it('ends with the agent: one that is made under its id later is shared with nobody', async () => {
    await share('everyone');
    await ann.client.call('delete_agent', { agentId, version: 1, permanent: true, cascade: true });
    expect(await found(bob)).not.toContain(agentId);
    await ann.client.call('deploy_agent_file', { file: answeringAgent(agentId, 'At your service again.') });
    expect(await ann.client.call('list_agent_shares', { agentId })).toMatchObject({ count: 0 });
    expect(await found(bob)).not.toContain(agentId);
  });

  it('is shown with names, is the same twice, and takes people and roles there are', async () => {
    await share(`user:${bob.userId}`);
    await share(`user:${bob.userId}`);
    expect(await share('role:eddi-viewer')).toEqual({
      agentId,
      count: 2,
      shares: [
        { with: 'role:patchbay-viewer', createdOn: expect.any(Number) },
        { with: `user:${bob.userId}`, name: 'patchbay-user', createdOn: expect.any(Number) },
      ],
    });
    expect((await ann.client.call('read_own_agent', { agentId })).visibility).toBe('shared');
    for (const nobody of ['user:user_nobody', 'role:boss']) {
      await expect(share(nobody)).rejects.toMatchObject({ status: 404 });
    }
    for (const malformed of ['', 'all', 'user:', 'user:a b', `role:${'x'.repeat(200)}`]) {
      await expect(share(malformed)).rejects.toMatchObject({ status: 400 });
    }
    expect(await unshare('role:eddi-viewer')).toMatchObject({ count: 1 });
    expect(await unshare('role:eddi-viewer')).toMatchObject({ count: 1 });
  });

  it('is an admin’s to do as well, and is noted', async () => {
    const admin = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
    await admin.call('share_agent', { agentId, with: `user:${bob.userId}` });
    await ann.client.call('unshare_agent', { agentId, with: `user:${bob.userId}` });
    const { events } = await admin.call('list_audit_events', { limit: 20 });
    const noted = events.filter(({ operation }) => operation.endsWith('share_agent')).slice(0, 2);
    const subject = { agentId, with: `user:${bob.userId}` };
    expect(noted).toMatchObject([
      { operation: 'unshare_agent', userId: ann.userId, outcome: 'done', subject },
      { operation: 'share_agent', userId: platform.platform.owner.id, outcome: 'done', subject },
    ]);
  });

  it('keeps sessions and lists of the agent door to whoever may use it', async () => {
    await share('everyone');
    const key = await sharedKey(bob);
    const list = async () => (await rpc(platform.agentUrl(agentId), 'tools/list', {}, { key })).status;
    expect(await list()).toBe(200);
    await unshare('everyone');
    await expect.poll(list, { interval: 2 }).toBe(401);
  });
});
