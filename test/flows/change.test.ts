import type { TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { platforms } from '../doors/platforms.ts';
import { type Surface, surfaces } from './surfaces.ts';
import { alwaysSays, says } from './texts.ts';

describe.each(platforms)('an agent of $kind', ({ start }) => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await start();
  });
  afterAll(() => platform?.close());

  describe.each(surfaces)('through $surface', ({ open }) => {
    let surface: Surface;
    let rest: Surface;
    let call: Surface['call'];
    beforeAll(async () => {
      surface = await open(platform, platform.operatorKey);
      rest = await surfaces[1]!.open(platform, platform.operatorKey);
      call = surface.call;
    });
    afterAll(() => surface?.close());

    /** An agent of its own with rules, output and workflow; nothing is deployed. */
    async function build(text: string) {
      const rules = await call('create_resource', {
        resourceType: 'behavior',
        config: JSON.stringify(alwaysSays),
      });
      const output = await call('create_resource', {
        resourceType: 'output',
        config: JSON.stringify(says(text)),
      });
      // Workflows have no tool that makes them.
      const workflow = await rest.call('create_document', {
        type: 'workflow',
        name: `workflow of ${text}`,
        body: {
          workflowSteps: [
            { type: 'eddi://ai.labs.parser' },
            { type: 'eddi://ai.labs.behavior', config: { uri: rules.resourceUri } },
            { type: 'output', config: { uri: output.resourceUri } },
            { type: 'templating' },
          ],
        },
      });
      const agent = await call('create_agent', { name: `Agent ${text}`, workflowUris: workflow.uri });
      return { rules, output, workflow, agentId: agent.agentId as string };
    }

    const say = async (agentId: string, conversationId?: string) =>
      call('chat_with_agent', { agentId, message: 'hello', ...(conversationId && { conversationId }) });

    it('is built, deployed, talked to, undeployed and deleted with all it is made of', async () => {
      const { agentId, rules, output, workflow } = await build('Good morning.');
      expect(rules).toMatchObject({ resourceType: 'behavior', version: 1, status: 201, action: 'created' });
      expect(rules.resourceUri).toBe(`patchbay://rules/${rules.resourceId}?version=1`);
      await expect(say(agentId)).rejects.toThrow('is not deployed in production; deploy it there first.');
      expect(await call('get_deployment_status', { agentId, version: 1 })).toMatchObject({
        status: 'NOT_FOUND',
        action: 'status_check',
      });

      expect(await call('deploy_agent', { agentId, version: 0 })).toEqual({
        agentId,
        version: 1,
        environment: 'production',
        httpStatus: 200,
        deploymentStatus: 'READY',
        deployed: true,
        action: 'deployed',
      });
      expect(await call('get_deployment_status', { agentId, version: 1 })).toMatchObject({ status: 'READY' });
      const { conversationId, agentResponse } = await say(agentId);
      expect(agentResponse).toContain('Good morning.');

      const refused = await call('undeploy_agent', { agentId, version: 1 });
      expect(refused).toMatchObject({ status: 409, endedConversations: false, action: 'undeploy_refused' });
      expect((await say(agentId, conversationId)).agentResponse).toContain('Good morning.');
      const undeployed = await call('undeploy_agent', { agentId, version: 1, endConversations: true });
      expect(undeployed).toMatchObject({ status: 200, endedConversations: true, action: 'undeployed' });
      expect(await call('read_conversation', { conversationId })).toMatchObject({
        conversationState: 'ENDED',
      });
      await expect(rest.call('undo_turn', { conversationId })).rejects.toThrow('not by its last message');
      await expect(call('undeploy_agent', { agentId, version: 1 })).rejects.toThrow('is not deployed');

      const deleted = await call('delete_agent', { agentId, version: 1, cascade: true, permanent: true });
      expect(deleted.deletedResources.toSorted()).toEqual(
        [
          `patchbay://workflow/${workflow.id}`,
          `patchbay://rules/${rules.resourceId}`,
          `patchbay://output/${output.resourceId}`,
        ].toSorted(),
      );
      await expect(call('get_agent', { agentId })).rejects.toThrow('not found');
      await expect(
        call('read_resource', { resourceType: 'output', resourceId: output.resourceId, version: 1 }),
      ).rejects.toThrow('There is no output document');
    });

    it('is looked into: every step, and what it uses (E-16)', async () => {
      const { agentId, rules } = await build('Here I am.');
      const { workflows, ...agent } = await call('list_agent_resources', { agentId });
      expect(agent).toEqual({ agentId, agentVersion: 1, agentName: 'Agent Here I am.', workflowCount: 1 });
      expect(workflows[0]).toMatchObject({ workflowVersion: 1, extensionCount: 4 });
      expect(workflows[0].extensions).toMatchObject([
        { type: 'parser' },
        { type: 'rules', resourceType: 'behavior', resourceUri: rules.resourceUri, resourceVersion: 1 },
        { type: 'output', resourceType: 'output' },
        { type: 'templating' },
      ]);
      const { resourceType, resourceId } = workflows[0].extensions[1];
      expect(await call('read_resource', { resourceType, resourceId })).toMatchObject({
        version: 1,
        configuration: { behaviorGroups: [{ name: 'always' }] },
      });
      expect(await call('read_workflow', { workflowId: workflows[0].workflowId })).toMatchObject({
        version: 1,
        extensionCount: 4,
      });
      const listed = await call('list_workflows', { filter: 'WORKFLOW OF HERE', limit: 1 });
      expect(listed).toMatchObject({ count: 1, workflows: [{ resource: workflows[0].workflowUri }] });
    });

    it('says something else after a change that cascades, and running conversations keep what they began with', async () => {
      const { agentId, output } = await build('Old words.');
      await call('deploy_agent', { agentId, version: 1 });
      const { conversationId } = await say(agentId);

      const { resourceId, version, configuration } = await call('read_resource', {
        resourceType: 'output',
        resourceId: output.resourceId,
      });
      expect(configuration.outputSet[0].outputs[0].valueAlternatives).toMatchObject([{ text: 'Old words.' }]);
      const updated = await call('update_resource', {
        resourceType: 'output',
        resourceId,
        version,
        config: JSON.stringify(says('New words.')),
      });
      expect(updated).toMatchObject({ previousVersion: 1, newVersion: 2, status: 200, action: 'updated' });

      // As EDDI writes it: compared after both are in our form.
      const oldUri = `eddi://ai.labs.output/outputstore/outputsets/${resourceId}?version=1`;
      const unknown = {
        oldUri: 'patchbay://rules/nowhere?version=1',
        newUri: `patchbay://rules/demo?version=1`,
      };
      const cascaded = await call('apply_agent_changes', {
        agentId,
        agentVersion: 1,
        resourceMappings: JSON.stringify([{ oldUri, newUri: updated.resourceUri }, unknown]),
        redeploy: true,
      });
      expect(cascaded).toEqual({
        agentId,
        previousAgentVersion: 1,
        newAgentVersion: 2,
        updatedWorkflows: 1,
        totalWorkflows: 1,
        mappingsApplied: 1,
        matched: [{ oldUri, newUri: updated.resourceUri }],
        unmatched: [unknown],
        redeployed: true,
        environment: 'production',
        action: 'cascaded',
      });
      expect((await say(agentId)).agentResponse).toContain('New words.');
      expect((await say(agentId, conversationId)).agentResponse).toContain('Old words.');
      const { agents } = await call('list_agents');
      expect(
        agents
          .filter((agent: { agentId: string }) => agent.agentId === agentId)
          .map((agent: { agentVersion: number }) => agent.agentVersion),
      ).toEqual([2, 1]);
    });

    it('takes its running conversations along to a compatible version', async () => {
      const { agentId, output } = await build('One.');
      await call('deploy_agent', { agentId, version: 1 });
      const { conversationId } = await say(agentId);
      const change = async (text: string, version: number, compatible: boolean) => {
        const { resourceUri } = await call('update_resource', {
          resourceType: 'output',
          resourceId: output.resourceId,
          version,
          config: JSON.stringify(says(text)),
        });
        const oldUri = `patchbay://output/${output.resourceId}?version=${version}`;
        return call('apply_agent_changes', {
          agentId,
          agentVersion: version,
          resourceMappings: JSON.stringify([{ oldUri, newUri: resourceUri }]),
          compatible,
          redeploy: true,
        });
      };
      await change('Two.', 1, true);
      await change('Three.', 2, false);
      // Three is no continuation of one; two is.
      const followed = await say(agentId, conversationId);
      expect(followed.agentResponse).toContain('Two.');
      expect(followed.response.agentVersion).toBe(2);
      expect((await say(agentId)).agentResponse).toContain('Three.');
      // Nobody runs with version 1 any more.
      expect(await call('undeploy_agent', { agentId, version: 1 })).toMatchObject({ status: 200 });
      expect(await call('undeploy_agent', { agentId, version: 2 })).toMatchObject({ status: 409 });
    });

    it('stays as it was where no reference matches, and where a deployment fails (E-22)', async () => {
      const { agentId, output } = await build('Still here.');
      await call('deploy_agent', { agentId, version: 1 });
      const unmatched = [{ oldUri: 'patchbay://output/nothing?version=1', newUri: output.resourceUri }];
      expect(
        await call('apply_agent_changes', {
          agentId,
          agentVersion: 1,
          resourceMappings: JSON.stringify(unmatched),
          redeploy: true,
        }),
      ).toMatchObject({ action: 'no_changes', newAgentVersion: 1, mappingsApplied: 0, unmatched });

      const workflows = ['patchbay://workflow/nowhere?version=1'];
      await rest.call('update_document', { type: 'agent', id: agentId, version: 1, body: { workflows } });
      const failed = await call('deploy_agent', { agentId, version: 2 });
      expect(failed).toMatchObject({
        version: 2,
        deployed: false,
        deploymentStatus: 'ERROR',
        action: 'deploy_failed',
        error: 'patchbay://workflow/nowhere?version=1 is not there.',
      });
      expect(Object.keys(failed)[0]).not.toBe('error');
      expect(await call('get_deployment_status', { agentId, version: 2 })).toMatchObject({
        status: 'NOT_FOUND',
      });
      expect((await say(agentId)).agentResponse).toContain('Still here.');
      const renamed = await call('update_agent', { agentId, version: 2, name: 'Other', redeploy: true });
      expect(renamed).toMatchObject({ version: 2, updated: true, redeployed: false, action: 'updated' });
      expect(renamed.deployError).toContain('is not there');
      expect(await call('get_agent', { agentId })).toMatchObject({ name: 'Other', version: 2 });
    });
  });
});
