import { randomBytes } from 'node:crypto';
import { type Client, createClient } from '@patchbay/contract/client';
import type { TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { platforms } from '../doors/platforms.ts';
import { alwaysSays, says } from '../flows/texts.ts';

describe.each(platforms)('deployments at $kind', ({ start }) => {
  let platform: TestPlatform;
  let client: Client;
  beforeAll(async () => {
    platform = await start({ env: { PATCHBAY_VAULT_KEY: randomBytes(32).toString('base64') } });
    client = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
  });
  afterAll(() => platform?.close());

  let made = 0;
  /** A new agent of these rules and this output, all under one id; nothing is deployed. */
  async function build(rules: Record<string, unknown>, output: Record<string, unknown>): Promise<string> {
    const id = `agent-${++made}`;
    await client.call('create_document', { type: 'rules', id, body: rules });
    await client.call('create_document', { type: 'output', id, body: output });
    await client.call('create_document', {
      type: 'workflow',
      id,
      body: {
        workflowSteps: [
          { type: 'parser' },
          { type: 'rules', config: { uri: `patchbay://rules/${id}?version=1` } },
          { type: 'output', config: { uri: `patchbay://output/${id}?version=1` } },
        ],
      },
    });
    const workflows = [`patchbay://workflow/${id}?version=1`];
    await client.call('create_document', { type: 'agent', id, body: { workflows } });
    return id;
  }
  const chat = (agentId: string, conversationId?: string) =>
    client.call('chat_with_agent', { agentId, message: 'hello', ...(conversationId && { conversationId }) });
  const read = (conversationId: string) =>
    client.call('read_conversation', { conversationId, currentStepOnly: false });

  it('have a status in each environment', async () => {
    const agentId = await build(alwaysSays, says('Hi.'));
    await client.call('deploy_agent', { agentId, version: 1, environment: 'test' });
    const status = async (environment: 'production' | 'test') =>
      (await client.call('get_deployment_status', { agentId, version: 1, environment })).status;
    expect([await status('production'), await status('test')]).toEqual(['NOT_FOUND', 'READY']);
    const { agentResponse } = await client.call('chat_with_agent', {
      agentId,
      message: 'hello',
      environment: 'test',
    });
    expect(agentResponse).toBe('Hi.');
    await client.call('undeploy_agent', { agentId, version: 1, environment: 'test', endConversations: true });
    expect(await status('test')).toBe('NOT_FOUND');
  });

  it('do not wait for conversations that wait for a person, which stay as they are', async () => {
    const agentId = await build(
      {
        behaviorGroups: [
          {
            name: 'ask',
            rules: [
              {
                name: 'ask',
                actions: ['answer', 'PAUSE_CONVERSATION'],
                conditions: [{ type: 'inputmatcher', configs: { expressions: 'unknown(*)' } }],
              },
            ],
          },
        ],
      },
      says('After approval.'),
    );
    await client.call('deploy_agent', { agentId, version: 1 });
    const paused = await chat(agentId);
    expect(paused).toMatchObject({ conversationState: 'AWAITING_HUMAN' });
    const { conversationId } = paused as { conversationId: string };
    expect(
      await client.call('undeploy_agent', { agentId, version: 1, endConversations: true }),
    ).toMatchObject({ status: 200 });
    expect((await read(conversationId)).conversationState).toBe('AWAITING_HUMAN');
    await client.call('resume_conversation', { conversationId, verdict: 'APPROVED' });
    await vi.waitFor(async () => {
      expect((await client.call('read_conversation_log', { conversationId })).log).toContain(
        'After approval.',
      );
    });
  });

  it('end with their conversations, also one whose turn is running: nothing of it is stored', async () => {
    const slow = {
      outputSet: [
        { action: 'answer', outputs: [{ valueAlternatives: [{ type: 'text', text: 'Late.', delay: 1 }] }] },
        {
          action: 'answer',
          timesOccurred: 1,
          outputs: [{ valueAlternatives: [{ type: 'text', text: 'Late.', delay: 10_000 }] }],
        },
      ],
    };
    const agentId = await build(alwaysSays, slow);
    await client.call('deploy_agent', { agentId, version: 1 });
    const { conversationId } = await client.call('create_conversation', { agentId });
    const running = chat(agentId, conversationId).then(
      () => 'answered',
      ({ code }) => code,
    );
    await vi.waitFor(async () => {
      expect((await read(conversationId)).conversationState).toBe('IN_PROGRESS');
    });
    expect(await client.call('undeploy_agent', { agentId, version: 1 })).toMatchObject({ status: 409 });
    await client.call('undeploy_agent', { agentId, version: 1, endConversations: true });
    expect((await read(conversationId)).conversationState).toBe('ENDED');
    expect(await running).toBe('cancelled');
    const { conversationState, conversationSteps } = await read(conversationId);
    expect([conversationState, conversationSteps?.length]).toEqual(['ENDED', 1]);
  });

  it('wait for a turn that is at work in the world, whose deeds are to be recorded', async () => {
    const agentId = await build(alwaysSays, says('Done.'));
    await client.call('deploy_agent', { agentId, version: 1 });
    const { conversationId } = await client.call('create_conversation', { agentId });
    const set = (state: string) =>
      platform.platform.store.commit(db =>
        db.updateTable('conversations').set({ state }).where('id', '=', conversationId).execute(),
      );
    await set('IN_PROGRESS');
    const end = () => client.call('undeploy_agent', { agentId, version: 1, endConversations: true });
    expect(await end()).toMatchObject({
      status: 409,
      endedConversations: false,
      error: expect.stringContaining('try again when its turn is over'),
    });
    expect(await client.call('get_deployment_status', { agentId, version: 1 })).toMatchObject({
      status: 'READY',
    });
    await set('READY');
    expect(await end()).toMatchObject({ status: 200 });
  });

  it('end with all of their conversations, however many', async () => {
    const agentId = await build(alwaysSays, says('Many.'));
    await client.call('deploy_agent', { agentId, version: 1 });
    const { conversationId } = await client.call('create_conversation', { agentId });
    const { store } = platform.platform;
    const row = await store.db
      .selectFrom('conversations')
      .selectAll()
      .where('id', '=', conversationId)
      .executeTakeFirstOrThrow();
    await store.commit(async db => {
      for (let part = 0; part < 5; part += 1) {
        const rows = Array.from({ length: 500 }, (_, at) => ({ ...row, id: `${agentId} ${part} ${at}` }));
        await db.insertInto('conversations').values(rows).execute();
      }
    });
    expect(
      await client.call('undeploy_agent', { agentId, version: 1, endConversations: true }),
    ).toMatchObject({ status: 200, endedConversations: true });
    const states = await store.db
      .selectFrom('conversations')
      .select('state')
      .distinct()
      .where('agent_id', '=', agentId)
      .execute();
    expect(states).toEqual([{ state: 'ENDED' }]);
  });

  it('that are mended run again at once, on every node', async () => {
    const agentId = await build(alwaysSays, says('Mended.'));
    await client.call('deploy_agent', { agentId, version: 1 });
    // No node has compiled it yet, so each finds what is missing now.
    await client.call('delete_document', { type: 'rules', id: agentId, version: 1, permanent: true });
    for (let node = 0; node < 4; node += 1) {
      await expect(chat(agentId)).rejects.toThrow('cannot run as it is deployed in production');
    }
    expect(await client.call('get_deployment_status', { agentId, version: 1 })).toMatchObject({
      status: 'ERROR',
    });
    expect(await client.call('deploy_agent', { agentId, version: 1 })).toMatchObject({
      action: 'deploy_failed',
      deployed: false,
    });
    await client.call('create_document', { type: 'rules', id: agentId, body: alwaysSays });
    expect(await client.call('deploy_agent', { agentId, version: 1 })).toMatchObject({ deployed: true });
    await vi.waitFor(async () => {
      for (let node = 0; node < 4; node += 1) expect((await chat(agentId)).agentResponse).toBe('Mended.');
    });
  });

  it('end with their agent, and a new one of its id begins undeployed', async () => {
    const agentId = await build(alwaysSays, says('Bye.'));
    await client.call('deploy_agent', { agentId, version: 1 });
    const { conversationId } = (await chat(agentId)) as { conversationId: string };
    const deleted = await client.call('delete_agent', { agentId, version: 0, permanent: true });
    expect(deleted.deletedResources).toEqual([]);
    await expect(chat(agentId, conversationId)).rejects.toMatchObject({ status: 404 });
    await expect(chat(agentId)).rejects.toMatchObject({ status: 404 });
    expect((await read(conversationId)).conversationSteps).toHaveLength(2);
    const workflows = [`patchbay://workflow/${agentId}?version=1`];
    await client.call('create_document', { type: 'agent', id: agentId, body: { workflows } });
    await expect(chat(agentId)).rejects.toThrow('is not deployed in production; deploy it there first.');

    const file = await client.call('export_agent', { agentId });
    await client.call('delete_agent', { agentId, version: 0, permanent: true });
    await expect(chat(agentId)).rejects.toMatchObject({ status: 404 });
    await client.call('import_agent', { file });
    await expect(chat(agentId)).rejects.toThrow('is not deployed in production; deploy it there first.');
  });

  it('are refused where a secret is not for the agent, and change nothing', async () => {
    await client.call('put_secret', {
      name: 'for-others',
      value: 'not a real key',
      allowedAgents: ['somebody-else'],
    });
    const body = {
      targetServerUrl: 'https://example.com',
      httpCalls: [
        {
          name: 'ask',
          actions: ['answer'],
          // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference to a secret
          request: { path: '/', headers: { authorization: 'Bearer ${vault:for-others}' } },
        },
      ],
    };
    const { uri } = await client.call('create_document', { type: 'httpcalls', body });
    const workflow = await client.call('create_document', {
      type: 'workflow',
      body: { workflowSteps: [{ type: 'httpcalls', config: { uri } }] },
    });
    const { agentId } = await client.call('create_agent', { name: 'x', workflowUris: workflow.uri });
    expect(await client.call('deploy_agent', { agentId, version: 1 })).toMatchObject({
      action: 'deploy_failed',
      error: expect.stringContaining('the secret is not for agent'),
    });
    expect(await client.call('get_deployment_status', { agentId, version: 1 })).toMatchObject({
      status: 'NOT_FOUND',
    });
  });

  it('of many versions at once leave each where it is', async () => {
    const agentId = await build(alwaysSays, says('One of many.'));
    const workflows = [`patchbay://workflow/${agentId}?version=1`];
    for (let version = 1; version < 8; version += 1) {
      await client.call('update_document', { type: 'agent', id: agentId, version, body: { workflows } });
    }
    const versions = Array.from({ length: 8 }, (_, index) => index + 1);
    await Promise.all(versions.map(version => client.call('deploy_agent', { agentId, version })));
    const running = await client.call('create_conversation', { agentId });
    await Promise.all(
      versions.slice(0, 7).map(version => client.call('undeploy_agent', { agentId, version })),
    );
    const { agents } = await client.call('list_agents', {});
    expect(agents.filter(agent => agent.agentId === agentId).map(agent => agent.agentVersion)).toEqual([8]);
    expect((await read(running.conversationId)).agentVersion).toBe(8);
  });
});
