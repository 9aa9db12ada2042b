import { type DocumentType, formatDocumentUri, parseDocumentUri } from '@patchbay/contract/ids';
import { engines, openTestStore } from '@patchbay/testing/stores';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createApplyChanges } from '../../packages/server/src/agents/configuration/apply-changes.ts';
import { createDeleteAgent } from '../../packages/server/src/agents/configuration/delete-agent.ts';
import { createDocuments } from '../../packages/server/src/agents/configuration/documents.ts';
import { STEP_TYPES } from '../../packages/server/src/agents/turn/steps.ts';
import { systemClock } from '../../packages/server/src/kernel/clock.ts';
import { PlatformError } from '../../packages/server/src/kernel/errors.ts';
import type { Store } from '../../packages/server/src/store/store.ts';
import { updateDocument } from '../../packages/server/src/store/tables/documents.ts';
import { ann } from '../conversations/setup.ts';

// What agents are made of, changed and deleted in cascades, against a map that does the same in the plainest way.

interface Entry {
  readonly versions: unknown[];
  deleted: boolean;
}

/** As it is stored, with every default. */
const rulesBody = (name: string) => ({
  behaviorGroups: [{ name, executionStrategy: 'executeUntilFirstSuccess', rules: [] }],
  expressionsAsActions: false,
  appendActions: true,
});
const workflowBody = (uris: readonly string[]) => ({
  workflowSteps: uris.map(uri => ({ type: 'rules', config: { uri } })),
});
const urisOf = (type: DocumentType, body: unknown): string[] =>
  type === 'agent'
    ? (body as { workflows: string[] }).workflows
    : (body as ReturnType<typeof workflowBody>).workflowSteps.map(step => step.config.uri);

class Model {
  readonly entries = new Map<string, Entry>();

  save(type: DocumentType, id: string, body: unknown): string {
    const entry = this.entries.get(`${type}/${id}`);
    if (!entry) this.entries.set(`${type}/${id}`, { versions: [body], deleted: false });
    else if (entry.deleted) return type === 'agent' ? 'agent_not_found' : 'not_found';
    else entry.versions.push(body);
    return 'done';
  }

  body(uri: string): unknown {
    const { type, id, version } = parseDocumentUri(uri)!;
    return this.entries.get(`${type}/${id}`)?.versions[version - 1];
  }

  apply(agentId: string, oldUri: string, newUri: string): string {
    const agent = this.entries.get(`agent/${agentId}`);
    if (!agent || agent.deleted) return 'agent_not_found';
    if (this.body(newUri) === undefined) return 'not_found';
    const workflows: string[] = [];
    const saved: (() => void)[] = [];
    /** As it will be, so that a workflow named twice is saved once. */
    const ahead = new Map<string, unknown[]>();
    for (const uri of urisOf('agent', agent.versions.at(-1))) {
      const body = this.body(uri);
      if (body === undefined) return 'not_found';
      const { id, version } = parseDocumentUri(uri)!;
      const mapped = workflowBody(urisOf('workflow', body).map(each => (each === oldUri ? newUri : each)));
      const entry = this.entries.get(`workflow/${id}`)!;
      const versions = ahead.get(id) ?? [...entry.versions];
      ahead.set(id, versions);
      if (JSON.stringify(mapped) === JSON.stringify(body)) workflows.push(uri);
      else if (!entry.deleted && JSON.stringify(versions.at(-1)) === JSON.stringify(mapped)) {
        workflows.push(formatDocumentUri({ type: 'workflow', id, version: versions.length }));
      } else if (entry.deleted) return 'not_found';
      else if (versions.length !== version) return 'conflict';
      else {
        versions.push(mapped);
        saved.push(() => entry.versions.push(mapped));
        workflows.push(formatDocumentUri({ type: 'workflow', id, version: version + 1 }));
      }
    }
    for (const save of saved) save();
    if (JSON.stringify(workflows) !== JSON.stringify(urisOf('agent', agent.versions.at(-1)))) {
      agent.versions.push({ workflows });
    }
    return 'done';
  }

  deleteAgent(agentId: string, permanent: boolean, cascade: boolean): string {
    const agent = this.entries.get(`agent/${agentId}`);
    if (!agent) return 'agent_not_found';
    if (agent.deleted && !permanent) return 'agent_not_found';
    const namedBy = (type: DocumentType, versions: readonly unknown[]) => [
      ...new Set(versions.flatMap(body => urisOf(type, body)).map(uri => nameOf(uri))),
    ];
    const workflows = cascade ? namedBy('agent', agent.versions) : [];
    const resources = workflows.flatMap(name => namedBy('workflow', this.entries.get(name)?.versions ?? []));
    this.remove(`agent/${agentId}`, permanent);
    for (const name of [...workflows, ...resources]) {
      const entry = this.entries.get(name);
      if (entry && !entry.deleted && !this.isNamed(name)) this.remove(name, permanent);
    }
    return 'done';
  }

  private isNamed(name: string): boolean {
    return [...this.entries].some(([holder, { versions, deleted }]) => {
      const type = holder.split('/')[0] as DocumentType;
      if (deleted || type === 'rules') return false;
      return versions.some(body => urisOf(type, body).some(uri => nameOf(uri) === name));
    });
  }

  private remove(name: string, permanent: boolean): void {
    if (permanent) this.entries.delete(name);
    else this.entries.get(name)!.deleted = true;
  }
}

function nameOf(uri: string): string {
  const { type, id } = parseDocumentUri(uri)!;
  return `${type}/${id}`;
}

const id = (letter: string, count: number) =>
  fc.constantFrom(...Array.from({ length: count }, (_, at) => `${letter}${at}`));
const version = fc.integer({ min: 1, max: 3 });
const rulesUri = fc
  .tuple(id('r', 3), version)
  .map(([name, at]) => formatDocumentUri({ type: 'rules', id: name, version: at }));
const workflowUri = fc
  .tuple(id('w', 2), version)
  .map(([name, at]) => formatDocumentUri({ type: 'workflow', id: name, version: at }));

const command = fc.oneof(
  fc.record({ do: fc.constant('rules' as const), id: id('r', 3), name: fc.constantFrom('x', 'y') }),
  fc.record({
    do: fc.constant('workflow' as const),
    id: id('w', 2),
    uris: fc.array(rulesUri, { maxLength: 3 }),
  }),
  fc.record({
    do: fc.constant('agent' as const),
    id: id('a', 2),
    uris: fc.array(workflowUri, { maxLength: 2 }),
  }),
  fc.record({ do: fc.constant('apply' as const), id: id('a', 2), oldUri: rulesUri, newUri: rulesUri }),
  fc.record({
    do: fc.constant('delete' as const),
    id: id('a', 2),
    permanent: fc.boolean(),
    cascade: fc.boolean(),
  }),
);
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;

describe.each(engines)('agents and what they are made of on %s', engine => {
  it('behave like a map, whatever is saved, cascaded and deleted', async () => {
    await using store = await openTestStore(engine);
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: 25 }), async commands => {
        await store.commit(async db => {
          for (const table of ['deployments', 'document_versions', 'documents', 'agents'] as const) {
            await db.deleteFrom(table).execute();
          }
        });
        const model = new Model();
        const system = createSystem(store);
        for (const step of commands) {
          const happened = await system(step, model);
          expect(happened.real, JSON.stringify(step)).toBe(happened.expected);
        }
        expect(await contents(store)).toEqual(
          [...model.entries]
            .map(([name, { versions, deleted }]) => ({ name, versions, deleted }))
            .toSorted((one, other) => one.name.localeCompare(other.name)),
        );
      }),
      { numRuns: 60, endOnFailure: true },
    );
  });
});

describe.each(engines)('what an agent is made of on %s', engine => {
  it('stays when one of a thousand versions of another agent names it', async () => {
    await using store = await openTestStore(engine);
    const documents = createDocuments({ store, stepTypes: STEP_TYPES, clock: systemClock });
    const remove = createDeleteAgent({ store, clock: systemClock });
    const workflows = ['w1', 'w2'].map(name => formatDocumentUri({ type: 'workflow', id: name, version: 1 }));
    for (const name of ['w1', 'w2'])
      await documents.create(ann, { type: 'workflow', id: name, body: workflowBody([]) });
    await documents.create(ann, { type: 'agent', id: 'a1', body: { workflows } });
    await documents.create(ann, { type: 'agent', id: 'a2', body: { workflows: [] } });
    await store.commit(async db => {
      const change = { type: 'agent', id: 'a2', expectedVersion: 0, by: 'ann', at: 1 } as const;
      for (let made = 2; made <= 1_000; made += 1) {
        await updateDocument(db, { ...change, body: { workflows: made === 1_000 ? [workflows[0]] : [] } });
      }
    });
    const deletion = { agentId: 'a1', expectedVersion: 1, permanent: false, cascade: true };
    expect(await remove(ann, deletion)).toEqual({
      version: 1,
      alsoDeleted: [{ type: 'workflow', id: 'w2' }],
    });
  });
});

function createSystem(store: Store) {
  const deps = { store, stepTypes: STEP_TYPES, clock: systemClock };
  const documents = createDocuments(deps);
  const apply = createApplyChanges(deps);
  const remove = createDeleteAgent(deps);

  async function save(model: Model, type: DocumentType, name: string, body: unknown) {
    const isNew = !model.entries.has(`${type}/${name}`);
    const document = { type, id: name, body, expectedVersion: 0 };
    const real = await kindOf(isNew ? documents.create(ann, document) : documents.update(ann, document));
    return { real, expected: model.save(type, name, body) };
  }

  return async (step: Command, model: Model): Promise<{ real: string; expected: string }> => {
    switch (step.do) {
      case 'rules':
        return save(model, 'rules', step.id, rulesBody(step.name));
      case 'workflow':
        return save(model, 'workflow', step.id, workflowBody(step.uris));
      case 'agent':
        return save(model, 'agent', step.id, { workflows: step.uris });
      case 'apply': {
        const { oldUri, newUri } = step;
        const changes = {
          agentId: step.id,
          agentVersion: 0,
          mappings: [{ oldUri, newUri }],
          compatible: false,
        };
        const real = await kindOf(apply(ann, changes));
        return { real, expected: model.apply(step.id, oldUri, newUri) };
      }
      case 'delete': {
        const { permanent, cascade } = step;
        const real = await kindOf(remove(ann, { agentId: step.id, expectedVersion: 0, permanent, cascade }));
        return { real, expected: model.deleteAgent(step.id, permanent, cascade) };
      }
    }
  };
}

async function kindOf(deed: Promise<unknown>): Promise<string> {
  try {
    await deed;
    return 'done';
  } catch (thrown) {
    if (thrown instanceof PlatformError) return thrown.kind;
    throw thrown;
  }
}

async function contents(store: Store) {
  const rows = await store.db
    .selectFrom('documents')
    .innerJoin('document_versions', join =>
      join
        .onRef('document_versions.type', '=', 'documents.type')
        .onRef('document_versions.id', '=', 'documents.id'),
    )
    .select(['documents.type', 'documents.id', 'documents.deleted', 'document_versions.body'])
    .orderBy('document_versions.version')
    .execute();
  const found = new Map<string, Entry>();
  for (const row of rows) {
    const name = `${row.type}/${row.id}`;
    const entry = found.get(name) ?? { versions: [], deleted: row.deleted === 1 };
    entry.versions.push(JSON.parse(row.body));
    found.set(name, entry);
  }
  return [...found]
    .map(([name, { versions, deleted }]) => ({ name, versions, deleted }))
    .toSorted((one, other) => one.name.localeCompare(other.name));
}
