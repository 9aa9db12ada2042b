import { type EngineName, engines } from '@patchbay/testing/stores';
import type { KyselyPlugin } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Principal } from '../../packages/server/src/kernel/principal.ts';
import {
  admin,
  ann,
  bob,
  errorOf,
  helloFile,
  helloKey,
  type Rig,
  say,
  startAgain,
  startRig,
} from './setup.ts';

function countReads(count: () => void): KyselyPlugin {
  return {
    transformQuery({ node }) {
      count();
      return node;
    },
    transformResult: async ({ result }) => result,
  };
}

describe.each(engines)('deployments on %s', (engine: EngineName) => {
  let rig: Rig;
  beforeEach(async () => {
    rig = await startRig(engine);
  });
  afterEach(() => rig[Symbol.asyncDispose]());

  async function versions(): Promise<string[]> {
    const rows = await rig.store.db
      .selectFrom('document_versions')
      .select(['type', 'id', 'version'])
      .execute();
    return rows.map(({ type, id, version }) => `${type} ${id} ${version}`).sort();
  }

  describe('an agent file', () => {
    it('is saved as documents of the same id and deployed', async () => {
      const result = await rig.agentFiles.deploy(ann, await helloFile({ agent: 'second' }));
      expect(result).toEqual({
        agentId: 'second',
        agentVersion: 1,
        status: 'READY',
        mcpEnabled: true,
        documents: ['dictionary', 'rules', 'output', 'workflow', 'agent'].map(type => ({
          resource: `patchbay://${type}/second?version=1`,
          changed: true,
        })),
      });
      const answer = await say(rig.turns, { agentId: 'second', input: 'hours' });
      expect(answer.agentResponse).toMatch(/^We are open/);
    });

    it('deployed twice changes nothing the second time, and says so', async () => {
      const before = await versions();
      const result = await rig.agentFiles.deploy(ann, await helloFile());
      expect(result.agentVersion).toBe(1);
      expect(result.documents.map(({ changed }) => changed)).toEqual([false, false, false, false, false]);
      expect(await versions()).toEqual(before);
    });

    it('makes new versions of what changed and of what refers to it', async () => {
      const { rules, ...rest } = await helloFile();
      const changed = structuredClone(rules) as { behaviorGroups: { rules: { name: string }[] }[] };
      changed.behaviorGroups[0]!.rules[0]!.name = 'renamed';
      const result = await rig.agentFiles.deploy(ann, { ...rest, rules: changed });
      expect(result.documents).toEqual([
        { resource: 'patchbay://dictionary/hello?version=1', changed: false },
        { resource: 'patchbay://rules/hello?version=2', changed: true },
        { resource: 'patchbay://output/hello?version=1', changed: false },
        { resource: 'patchbay://workflow/hello?version=2', changed: true },
        { resource: 'patchbay://agent/hello?version=2', changed: true },
      ]);
    });

    it('may change words and switches alone', async () => {
      const renamed = await rig.agentFiles.deploy(ann, await helloFile({ description: 'New words' }));
      expect(renamed.documents.filter(({ changed }) => changed)).toEqual([
        { resource: 'patchbay://agent/hello?version=2', changed: true },
      ]);
      const closed = await rig.agentFiles.deploy(
        ann,
        await helloFile({ description: 'New words', mcp_enabled: false }),
      );
      expect(closed).toMatchObject({ agentVersion: 2, mcpEnabled: false });
      const row = await rig.store.db.selectFrom('agents').select('mcp_enabled').executeTakeFirst();
      expect(row?.mcp_enabled).toBe(0);
    });

    it('without mcp_enabled is closed to MCP clients', async () => {
      const { mcp_enabled: _, ...rest } = await helloFile({ agent: 'closed' });
      expect(await rig.agentFiles.deploy(ann, rest)).toMatchObject({ mcpEnabled: false });
    });

    it.each([
      [
        'an unknown field',
        { rulez: {} },
        /field "rulez" at \$\.rulez is unknown .*known fields there: agent, name/,
      ],
      [
        'an unknown field deep inside',
        { output: { outputSet: [{ action: 'x', said: 1 }] } },
        /\$\.output\.outputSet\[0\]\.said/,
      ],
      ['a reserved id', { agent: 'mcp' }, /\$\.agent .*reserved/],
      [
        'a template that is none',
        {
          output: {
            outputSet: [
              {
                action: 'x',
                outputs: [{ valueAlternatives: [{ type: 'text', text: '{{ input | nosuch' }] }],
              },
            ],
          },
        },
        /template/,
      ],
    ])('with %s is refused, and nothing of it is saved', async (_, mistake, words) => {
      const before = await versions();
      const error = await errorOf(
        rig.agentFiles.deploy(ann, await helloFile({ agent: 'fresh', ...mistake })),
      );
      expect(error.kind).toBe('invalid');
      expect(error.message).toMatch(words);
      expect(await versions()).toEqual(before);
      const agents = await rig.store.db.selectFrom('agents').select('id').execute();
      expect(agents).toEqual([{ id: 'hello' }]);
    });

    it('saves nothing when the store fails half way', async () => {
      const before = await versions();
      // A version the deployment is about to write is there already: its last document cannot be stored.
      await rig.store.db
        .insertInto('document_versions')
        .values({ type: 'agent', id: 'hello', version: 2, body: '{}', created_by: 'x', created_at: 1 })
        .execute();
      const { output: _, ...rest } = await helloFile();
      const output = { outputSet: [] };
      await expect(rig.agentFiles.deploy(ann, { ...rest, output })).rejects.toThrow();
      expect((await versions()).filter(version => version !== 'agent hello 2')).toEqual(before);
      expect((await say(rig.turns, { input: 'hours' })).agentResponse).toMatch(/^We are open/);
    });

    it('of somebody else is refused in the same words, whoever it is', async () => {
      const error = await errorOf(rig.agentFiles.deploy(bob, await helloFile()));
      expect(error.kind).toBe('forbidden');
      expect(error.message).toBe('agent: you may not deploy to "hello"; choose another id for your agent.');
      expect(await rig.agentFiles.deploy(admin, await helloFile({ name: 'By an admin' }))).toMatchObject({
        agentVersion: 2,
      });
      const row = await rig.store.db.selectFrom('agents').select('owner_id').executeTakeFirst();
      expect(row?.owner_id).toBe('ann');
    });

    it('deployed by two at once is one deployment, the other learns of it or changes nothing', async () => {
      const files = await Promise.all(['One', 'Two'].map(name => helloFile({ name })));
      const results = await Promise.allSettled(files.map(file => rig.agentFiles.deploy(ann, file)));
      const failed = results.filter(({ status }) => status === 'rejected');
      for (const result of failed) {
        expect(result).toMatchObject({ reason: { kind: 'conflict' } });
      }
      expect(results.length - failed.length).toBeGreaterThanOrEqual(1);
      const deployed = await rig.store.db.selectFrom('deployments').selectAll().execute();
      expect(deployed).toHaveLength(1);
      expect((await say(rig.turns, { input: 'hours' })).agentResponse).toMatch(/^We are open/);
    });

    it('goes to the environment it is deployed to', async () => {
      await rig.agentFiles.deploy(ann, await helloFile({ agent: 'trial' }), 'test');
      const inTest = await rig.deployments.discoverAgents(ann, { environment: 'test' });
      expect(inTest.agents.map(({ agentId }) => agentId)).toEqual(['trial']);
      const answer = await say(rig.turns, { agentId: 'trial', environment: 'test', input: 'hours' });
      expect(answer.environment).toBe('test');
      // A conversation keeps its environment whatever the next message says (E-19).
      const { conversationId } = answer;
      const next = await say(rig.turns, {
        agentId: 'trial',
        conversationId,
        environment: 'production',
        input: 'hours',
      });
      expect(next.environment).toBe('test');
    });
  });

  describe('lists', () => {
    const environment = 'production' as const;
    beforeEach(async () => {
      await rig.agentFiles.deploy(bob, {
        ...(await helloFile()),
        agent: 'bobs',
        name: 'Ördög',
        description: 'Nobody else may see 100% of it',
      });
    });
    const discovered = async (principal: Principal, filter?: string) =>
      (await rig.deployments.discoverAgents(principal, { environment, filter })).agents.map(
        ({ agentId }) => agentId,
      );

    it('show agents the caller may use', async () => {
      expect(await discovered(ann)).toEqual(['hello']);
      expect(await discovered(bob)).toEqual(['bobs']);
      expect(await discovered(admin)).toEqual(['hello', 'bobs']);
      // An agent key opens its agent; it does not look around.
      expect(await discovered(helloKey)).toEqual([]);
      const configs = await rig.deployments.listAgentConfigs(ann, { limit: 20 });
      expect(configs.configs.map(({ resource }) => resource)).toEqual(['patchbay://agent/hello?version=1']);
    });

    it('find by a part of name or description, in any case', async () => {
      expect(await discovered(admin, 'öRDö')).toEqual(['bobs']);
      expect(await discovered(admin, 'COFFEE')).toEqual(['hello']);
      expect(await discovered(admin, '100%')).toEqual(['bobs']);
      expect(await discovered(admin, '1%0')).toEqual([]);
      const configs = await rig.deployments.listAgentConfigs(admin, { filter: 'ÖRDÖG', limit: 20 });
      expect(configs).toMatchObject({ count: 1, configs: [{ name: 'Ördög', createdBy: 'bob' }] });
      expect((await rig.deployments.listAgentConfigs(admin, { limit: 1 })).count).toBe(1);
    });

    it('describe each deployment', async () => {
      const listed = await rig.deployments.listAgents(bob, { environment });
      expect(listed).toMatchObject({
        count: 1,
        agents: [
          {
            environment,
            agentId: 'bobs',
            agentVersion: 1,
            status: 'READY',
            descriptor: {
              resource: 'patchbay://agent/bobs?version=1',
              name: 'Ördög',
              createdBy: 'bob',
              lastModifiedBy: 'bob',
            },
          },
        ],
      });
      expect((await rig.deployments.listAgents(bob, { environment: 'test' })).count).toBe(0);
    });

    it('hide deleted agents, and so do doors', async () => {
      await rig.store.db.updateTable('documents').set({ deleted: 1 }).where('type', '=', 'agent').execute();
      expect(await discovered(admin)).toEqual([]);
      expect((await rig.deployments.listAgents(admin, { environment })).count).toBe(0);
      expect((await rig.deployments.listAgentConfigs(admin, { limit: 20 })).count).toBe(0);
      expect((await errorOf(rig.deployments.getAgent(ann, { agentId: 'hello' }))).kind).toBe(
        'agent_not_found',
      );
    });
  });

  describe('a configuration', () => {
    it('is read by version, the latest by default (E-16)', async () => {
      await rig.agentFiles.deploy(ann, await helloFile({ name: 'Hello again' }));
      const latest = await rig.deployments.getAgent(ann, { agentId: 'hello' });
      expect(latest).toEqual({
        agentId: 'hello',
        version: 2,
        name: 'Hello again',
        description: expect.stringContaining('coffee'),
        configuration: { workflows: ['patchbay://workflow/hello?version=1'] },
      });
      expect(await rig.deployments.getAgent(ann, { agentId: 'hello', version: 0 })).toEqual(latest);
      expect(await rig.deployments.getAgent(ann, { agentId: 'hello', version: 1 })).toMatchObject({
        version: 1,
      });
      expect(await errorOf(rig.deployments.getAgent(ann, { agentId: 'hello', version: 3 }))).toMatchObject({
        kind: 'not_found',
        message: 'version: agent "hello" has no version 3; the latest is 2.',
      });
    });

    it('of somebody else is not there, in the words of one that is not there', async () => {
      const foreign = await errorOf(rig.deployments.getAgent(bob, { agentId: 'hello' }));
      const missing = await errorOf(rig.deployments.getAgent(bob, { agentId: 'nobody' }));
      expect(foreign.kind).toBe('agent_not_found');
      expect(foreign.message.replace('hello', 'nobody')).toBe(missing.message);
    });
  });

  it('are compiled once for many first turns at once', async () => {
    let reads = 0;
    const { store } = rig;
    const counting = { ...store, db: store.db.withPlugin(countReads(() => (reads += 1))) };
    const { deployments } = startAgain({ ...rig, store: counting });
    const agents = await Promise.all(Array.from({ length: 8 }, () => deployments.compiled('hello', 1)));
    expect(new Set(agents).size).toBe(1);
    // agent, workflow, dictionary, rules, output
    expect(reads).toBe(5);
  });

  it('are checked at start: what does not compile any more is ERROR, what does again is READY', async () => {
    const { store } = rig;
    const status = async () =>
      (await store.db.selectFrom('deployments').select('status').executeTakeFirst())?.status;
    const body = await store.db
      .selectFrom('document_versions')
      .select('body')
      .where('type', '=', 'workflow')
      .executeTakeFirstOrThrow();
    const setWorkflow = (text: string) =>
      store.db.updateTable('document_versions').set({ body: text }).where('type', '=', 'workflow').execute();

    await setWorkflow('{"workflowSteps":[{"type":"from-the-future"}]}');
    await startAgain(rig).deployments.checkAll();
    expect(await status()).toBe('ERROR');
    await setWorkflow(body.body);
    await startAgain(rig).deployments.checkAll();
    expect(await status()).toBe('READY');
  });
});
