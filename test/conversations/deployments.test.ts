import { type EngineName, engines } from '@patchbay/testing/stores';
import type { KyselyPlugin } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StepType } from '../../packages/server/src/agents/step/step.ts';
import { STEP_TYPES } from '../../packages/server/src/agents/turn/steps.ts';
import type { Principal } from '../../packages/server/src/kernel/principal.ts';
import { createManualClock } from '../manual-clock.ts';
import {
  admin,
  ann,
  bob,
  countRows,
  errorOf,
  helloFile,
  helloKey,
  type Rig,
  refusalOf,
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
        mcpEnabled: true,
        documents: ['dictionary', 'rules', 'output', 'workflow', 'agent'].map(type => ({
          type,
          id: 'second',
          version: 1,
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
        { type: 'dictionary', id: 'hello', version: 1, changed: false },
        { type: 'rules', id: 'hello', version: 2, changed: true },
        { type: 'output', id: 'hello', version: 1, changed: false },
        { type: 'workflow', id: 'hello', version: 2, changed: true },
        { type: 'agent', id: 'hello', version: 2, changed: true },
      ]);
    });

    it('may change words and switches alone', async () => {
      const renamed = await rig.agentFiles.deploy(ann, await helloFile({ description: 'New words' }));
      expect(renamed.documents.filter(({ changed }) => changed)).toEqual([
        { type: 'agent', id: 'hello', version: 2, changed: true },
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
      (await rig.catalogue.discover(principal, { environment, filter })).map(({ agentId }) => agentId);
    const configured = async (principal: Principal, filter?: string, limit = 20) =>
      (await rig.catalogue.listConfigurations(principal, { filter, limit })).map(({ id }) => id);

    it('show agents the caller may use', async () => {
      expect(await discovered(ann)).toEqual(['hello']);
      expect(await discovered(bob)).toEqual(['bobs']);
      expect(await discovered(admin)).toEqual(['hello', 'bobs']);
      // An agent key opens its agent; it does not look around.
      expect(await discovered(helloKey)).toEqual([]);
      expect(await configured(ann)).toEqual(['hello']);
    });

    it('find by a part of name or description, in any case', async () => {
      expect(await discovered(admin, 'öRDö')).toEqual(['bobs']);
      expect(await discovered(admin, 'COFFEE')).toEqual(['hello']);
      expect(await discovered(admin, '100%')).toEqual(['bobs']);
      expect(await discovered(admin, '1%0')).toEqual([]);
      expect(await configured(admin, 'ÖRDÖG')).toEqual(['bobs']);
      expect(await configured(admin, undefined, 1)).toHaveLength(1);
    });

    it('describe each deployment', async () => {
      expect(await rig.catalogue.listDeployed(bob, { environment })).toEqual([
        {
          environment,
          agentId: 'bobs',
          agentVersion: 1,
          status: 'READY',
          descriptor: {
            type: 'agent',
            id: 'bobs',
            currentVersion: 1,
            name: 'Ördög',
            description: 'Nobody else may see 100% of it',
            createdBy: 'bob',
            createdAt: expect.any(Number),
            modifiedBy: 'bob',
            modifiedAt: expect.any(Number),
          },
        },
      ]);
      expect(await rig.catalogue.listDeployed(bob, { environment: 'test' })).toEqual([]);
    });

    it('hide deleted agents, and so do doors', async () => {
      await rig.store.db.updateTable('documents').set({ deleted: 1 }).where('type', '=', 'agent').execute();
      expect(await discovered(admin)).toEqual([]);
      expect(await rig.catalogue.listDeployed(admin, { environment })).toEqual([]);
      expect(await configured(admin)).toEqual([]);
      const hidden = await errorOf(rig.catalogue.getConfiguration(ann, { agentId: 'hello' }));
      expect(hidden.kind).toBe('agent_not_found');
    });
  });

  describe('a configuration', () => {
    const read = (principal: Principal, agentId: string, version?: number) =>
      rig.catalogue.getConfiguration(principal, { agentId, version });

    it('is read by version, the latest by default (E-16)', async () => {
      await rig.agentFiles.deploy(ann, await helloFile({ name: 'Hello again' }));
      const latest = await read(ann, 'hello');
      expect(latest).toMatchObject({
        descriptor: { name: 'Hello again', description: expect.stringContaining('coffee') },
        document: { id: 'hello', version: 2, body: { workflows: ['patchbay://workflow/hello?version=1'] } },
      });
      expect(await read(ann, 'hello', 0)).toEqual(latest);
      expect((await read(ann, 'hello', 1)).document.version).toBe(1);
      expect(await errorOf(read(ann, 'hello', 3))).toMatchObject({
        kind: 'not_found',
        message: 'version: agent "hello" has no version 3; the latest is 2.',
      });
    });

    it('of somebody else is not there, in the words of one that is not there', async () => {
      const foreign = await errorOf(read(bob, 'hello'));
      const missing = await errorOf(read(bob, 'nobody'));
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

  describe('that do not compile', () => {
    const newer: StepType = { type: 'from-the-future', compile: async () => ({ run: () => 'continue' }) };
    const unavailable = {
      reason: 'agent_unavailable',
      agentId: 'hello',
      why: 'error',
      environment: 'production',
    };
    const status = async (agentId = 'hello') => {
      const deployed = await rig.catalogue.listDeployed(ann, { environment: 'production' });
      return deployed.find(each => each.agentId === agentId)?.status;
    };

    /** The agent was made by a newer program: this one knows one of its steps not. */
    async function outgrow(): Promise<void> {
      const { db } = rig.store;
      const row = await db
        .selectFrom('document_versions')
        .select('body')
        .where('type', '=', 'workflow')
        .where('id', '=', 'hello')
        .executeTakeFirstOrThrow();
      const workflow = JSON.parse(row.body) as { workflowSteps: object[] };
      workflow.workflowSteps.push({ type: newer.type });
      const body = JSON.stringify(workflow);
      await db
        .updateTable('document_versions')
        .set({ body })
        .where('type', '=', 'workflow')
        .where('id', '=', 'hello')
        .execute();
    }

    it('are refused and shown as ERROR; other agents go on', async () => {
      await rig.agentFiles.deploy(ann, await helloFile({ agent: 'sound' }));
      const { conversationId } = await say(rig.turns, {});
      await outgrow();
      const { turns } = startAgain(rig);
      expect(await refusalOf(turns, { input: 'x' })).toEqual(unavailable);
      expect(await refusalOf(turns, { conversationId, input: 'x' })).toEqual(unavailable);
      expect(await countRows(rig.store)).toMatchObject({ conversations: 1 });
      expect(await status()).toBe('ERROR');
      expect((await say(turns, { agentId: 'sound', input: 'hours' })).conversationState).toBe('READY');
      expect(await status('sound')).toBe('READY');
    });

    it('are READY again as soon as a program that can compile them is asked', async () => {
      const { conversationId } = await say(rig.turns, {});
      await outgrow();
      expect(await refusalOf(startAgain(rig).turns, { input: 'x' })).toEqual(unavailable);
      expect(await status()).toBe('ERROR');
      const { turns } = startAgain(rig, { stepTypes: [...STEP_TYPES, newer] });
      expect((await say(turns, { conversationId, input: 'hours' })).agentResponse).toMatch(/^We are open/);
      expect(await status()).toBe('READY');
    });

    it('on one node run on another, whatever status is noted', async () => {
      await outgrow();
      const older = startAgain(rig);
      const upgraded = startAgain(rig, { stepTypes: [...STEP_TYPES, newer] });
      const { conversationId } = await say(upgraded.turns, { input: 'hours' });
      expect(await refusalOf(older.turns, { input: 'hours' })).toEqual(unavailable);
      expect(await status()).toBe('ERROR');
      expect((await say(upgraded.turns, { conversationId, input: 'hours' })).conversationState).toBe('READY');
      expect((await say(upgraded.turns, { input: 'hours' })).conversationState).toBe('READY');
    });

    it('cost a call one query, and are tried again after some seconds', async () => {
      await outgrow();
      const clock = createManualClock();
      const seen = { reads: 0 };
      const counting = { ...rig.store, db: rig.store.db.withPlugin(countReads(() => (seen.reads += 1))) };
      const { turns, deployments } = startAgain({ ...rig, store: counting }, { clock });
      expect(await refusalOf(turns, { input: 'x' })).toEqual(unavailable);
      const { reads } = seen;
      expect(reads).toBeGreaterThan(0);
      const before = await countRows(rig.store);
      for (let call = 0; call < 3; call += 1) {
        expect(await refusalOf(turns, { input: 'x' })).toEqual(unavailable);
        expect(await deployments.compiled('hello', 1)).toBeUndefined();
      }
      expect(seen.reads).toBe(reads);
      expect(await countRows(rig.store)).toEqual(before);
      await clock.advance(10_000);
      expect(await refusalOf(turns, { input: 'x' })).toEqual(unavailable);
      expect(seen.reads).toBe(2 * reads);
    });
  });
});
