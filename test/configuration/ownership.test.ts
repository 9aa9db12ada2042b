import type { OperationName } from '@patchbay/contract/operations';
import type { TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { platforms } from '../doors/platforms.ts';
import { callTool, toolError } from '../doors/wire.ts';
import { alwaysSays, says } from '../flows/texts.ts';

/** What is not theirs is, for everybody but an admin, as if it were not there: the same words, the same codes. */
describe.each(platforms)('what somebody else has made at $kind', ({ start }) => {
  let platform: TestPlatform;
  let ann: string;
  let bob: string;
  let rulesId: string;
  let workflowId: string;
  let agentId: string;

  const call = (key: string, name: OperationName, args: Record<string, unknown>) =>
    callTool(platform.operatorUrl, name, args, { key });
  async function done(key: string, name: OperationName, args: Record<string, unknown>) {
    const { body } = await call(key, name, args);
    expect(body.result.isError, JSON.stringify(body.result)).toBeUndefined();
    return body.result.structuredContent;
  }
  async function rest(key: string, path: string, body: unknown) {
    const response = await fetch(`${platform.url}/api/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as { id: string; uri: string } };
  }

  beforeAll(async () => {
    platform = await start();
    ann = (await platform.addPerson(['patchbay-editor'])).key;
    bob = (await platform.addPerson(['patchbay-editor'])).key;
    const rules = await done(ann, 'create_resource', {
      resourceType: 'behavior',
      config: JSON.stringify(alwaysSays),
    });
    rulesId = rules.resourceId;
    const output = await done(ann, 'create_resource', {
      resourceType: 'output',
      config: JSON.stringify(says('Only for Ann.')),
    });
    const workflow = await rest(ann, '/documents/workflow', {
      body: {
        workflowSteps: [
          { type: 'rules', config: { uri: rules.resourceUri } },
          { type: 'output', config: { uri: output.resourceUri } },
        ],
      },
    });
    workflowId = workflow.body.id;
    const agent = await done(ann, 'create_agent', { name: 'Ann’s', workflowUris: workflow.body.uri });
    agentId = agent.agentId;
    await done(ann, 'deploy_agent', { agentId, version: 1 });
  });
  afterAll(() => platform?.close());

  const calls = (): readonly (readonly [OperationName, Record<string, unknown>, string])[] => [
    ['read_resource', { resourceType: 'behavior', resourceId: rulesId }, 'resourceId'],
    ['read_resource', { resourceType: 'behavior', resourceId: rulesId, version: 1 }, 'resourceId'],
    [
      'update_resource',
      { resourceType: 'behavior', resourceId: rulesId, version: 7, config: JSON.stringify(alwaysSays) },
      'resourceId',
    ],
    ['delete_resource', { resourceType: 'behavior', resourceId: rulesId, version: 0 }, 'resourceId'],
    ['read_workflow', { workflowId }, 'workflowId'],
    ['get_agent', { agentId }, 'agentId'],
    ['get_agent', { agentId, version: 99 }, 'agentId'],
    ['update_agent', { agentId, version: 7, name: 'Mine' }, 'agentId'],
    ['delete_agent', { agentId, version: 0 }, 'agentId'],
    ['list_agent_resources', { agentId }, 'agentId'],
    ['apply_agent_changes', { agentId, agentVersion: 7, resourceMappings: '[]' }, 'agentId'],
    ['deploy_agent', { agentId, version: 1 }, 'agentId'],
    ['deploy_agent', { agentId, version: 99 }, 'agentId'],
    ['undeploy_agent', { agentId, version: 1 }, 'agentId'],
    ['get_deployment_status', { agentId, version: 1 }, 'agentId'],
  ];

  it('answers like what is not there, whatever is done to it', async () => {
    for (const [name, args, idArgument] of calls()) {
      const foreign = toolError(await call(bob, name, args));
      const id = String(args[idArgument]);
      const absent = toolError(await call(bob, name, { ...args, [idArgument]: 'not-there' }));
      expect(foreign, name).toMatchObject({ errorCode: 'NOT_FOUND' });
      expect(JSON.parse(JSON.stringify(foreign).replaceAll(id, 'not-there')), name).toEqual(absent);
    }
    // Nothing of it was done.
    expect(await done(ann, 'get_agent', { agentId })).toMatchObject({ version: 1, name: 'Ann’s' });
    expect(await done(ann, 'get_deployment_status', { agentId, version: 1 })).toMatchObject({
      status: 'READY',
    });
  });

  it('is in no list', async () => {
    const mine = (lists: { configs?: unknown[]; workflows?: unknown[]; agents?: unknown[] }) =>
      JSON.stringify(lists);
    for (const name of ['list_workflows', 'list_agent_configs', 'list_agents', 'discover_agents'] as const) {
      const text = mine(await done(bob, name, {}));
      expect(text, name).not.toContain(agentId);
      expect(text, name).not.toContain(workflowId);
    }
    expect(mine(await done(ann, 'list_workflows', {}))).toContain(workflowId);
  });

  it('cannot be built on: neither a workflow nor an agent nor a mapping gets at it', async () => {
    const workflow = await rest(bob, '/documents/workflow', {
      body: { workflowSteps: [{ type: 'rules', config: { uri: `patchbay://rules/${rulesId}?version=1` } }] },
    });
    expect(workflow.status).toBe(201);
    const agent = await done(bob, 'create_agent', { name: 'Bob’s', workflowUris: workflow.body.uri });
    expect(await done(bob, 'deploy_agent', { agentId: agent.agentId, version: 1 })).toMatchObject({
      action: 'deploy_failed',
      error: expect.stringContaining(`patchbay://rules/${rulesId}?version=1 is not there.`),
    });
    const other = await done(bob, 'create_agent', {
      name: 'Bob’s other',
      workflowUris: `patchbay://workflow/${workflowId}?version=1`,
    });
    expect(await done(bob, 'deploy_agent', { agentId: other.agentId, version: 1 })).toMatchObject({
      action: 'deploy_failed',
    });
    const inventory = await done(bob, 'list_agent_resources', { agentId: other.agentId });
    expect(inventory.workflows).toMatchObject([
      { extensions: [], error: `patchbay://workflow/${workflowId}?version=1 is not there.` },
    ]);
    const mapping = [
      { oldUri: 'patchbay://rules/x1?version=1', newUri: `patchbay://rules/${rulesId}?version=1` },
    ];
    const mapped = await call(bob, 'apply_agent_changes', {
      agentId: agent.agentId,
      agentVersion: 1,
      resourceMappings: JSON.stringify(mapping),
    });
    expect(toolError(mapped)).toMatchObject({ errorCode: 'NOT_FOUND' });
  });

  it('keeps its id: nobody makes a document or deploys a file over it', async () => {
    for (const type of ['agent', 'workflow']) {
      const body = type === 'agent' ? { workflows: [] } : { workflowSteps: [] };
      const id = type === 'agent' ? agentId : workflowId;
      expect((await rest(bob, `/documents/${type}`, { id, body })).status, type).toBe(409);
    }
    const name = 'bobs-rules';
    await rest(bob, '/documents/rules', { id: name, body: alwaysSays });
    const file = { agent: name, name, rules: alwaysSays, output: says('Mine.') };
    expect((await rest(ann, '/agent-files', { file })).status).toBe(403);
  });

  it('is an admin’s to reach, and stays with its owner', async () => {
    const admin = platform.operatorKey;
    const changed = await done(admin, 'update_resource', {
      resourceType: 'behavior',
      resourceId: rulesId,
      version: 1,
      config: JSON.stringify(alwaysSays),
    });
    expect(changed.newVersion).toBe(2);
    expect(await done(ann, 'read_resource', { resourceType: 'behavior', resourceId: rulesId })).toMatchObject(
      { version: 2 },
    );
    expect(await done(admin, 'deploy_agent', { agentId, version: 1, environment: 'test' })).toMatchObject({
      deployed: true,
    });
    expect(await done(admin, 'list_agent_resources', { agentId })).toMatchObject({ workflowCount: 1 });
  });
});
