import { type DocumentType, parseDocumentUri } from '@patchbay/contract/ids';
import { type EngineName, engines, openTestStore } from '@patchbay/testing/stores';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createApplyChanges } from '../../packages/server/src/agents/configuration/apply-changes.ts';
import { createDeleteAgent } from '../../packages/server/src/agents/configuration/delete-agent.ts';
import { createDocuments } from '../../packages/server/src/agents/configuration/documents.ts';
import { STEP_TYPES } from '../../packages/server/src/agents/turn/steps.ts';
import { systemClock } from '../../packages/server/src/kernel/clock.ts';
import { PlatformError } from '../../packages/server/src/kernel/errors.ts';
import { ann } from '../conversations/setup.ts';

// Agents that share workflows that share outputs, and once more as a map: every change, cascade and deletion is made to both.

const TYPES = ['output', 'workflow', 'agent'] as const;
type Type = (typeof TYPES)[number];
interface Entry {
  /** Of an output its text; of a workflow and an agent what it names. */
  readonly versions: (readonly string[])[];
  deleted: boolean;
}

const id = fc.constantFrom('one', 'two');
const type = fc.constantFrom(...TYPES);
/** 0 is whatever is current; mostly that or the current one, sometimes a stale one or one to come. */
const off = fc.constantFrom(
  'current' as const,
  'current' as const,
  'any' as const,
  'stale' as const,
  'ahead' as const,
);
const ref = fc.record({ id, version: fc.constantFrom(1, 1, 1, 2, 2, 3) });
const change = fc.oneof(
  {
    arbitrary: fc.record({
      what: fc.constant('create' as const),
      type,
      id,
      refs: fc.array(ref, { minLength: 1, maxLength: 3 }),
    }),
    weight: 4,
  },
  {
    arbitrary: fc.record({
      what: fc.constant('update' as const),
      type,
      id,
      off,
      refs: fc.array(ref, { minLength: 1, maxLength: 3 }),
    }),
    weight: 4,
  },
  {
    arbitrary: fc.record({
      what: fc.constant('update twice at once' as const),
      id,
      refs: fc.array(ref, { minLength: 1, maxLength: 1 }),
    }),
    weight: 1,
  },
  {
    arbitrary: fc.record({ what: fc.constant('delete' as const), type, id, off, permanent: fc.boolean() }),
    weight: 1,
  },
  {
    arbitrary: fc.record({
      what: fc.constant('delete agent' as const),
      id,
      off,
      permanent: fc.boolean(),
      cascade: fc.boolean(),
    }),
    weight: 1,
  },
  {
    arbitrary: fc.record({
      what: fc.constant('apply' as const),
      id,
      off,
      type: fc.constantFrom('output' as const, 'output' as const, 'workflow' as const),
      /** By chance, or in use by the agent and then to the newest version of the same document, as people do it. */
      mappings: fc.array(fc.record({ from: ref, to: ref, inUse: fc.option(fc.nat(5)) }), {
        minLength: 1,
        maxLength: 3,
      }),
    }),
    weight: 5,
  },
);

describe.each(engines)('documents and what is made of them, on %s', engine => {
  it('are a map of lists, also where a change cascades or is made from a stale version', {
    timeout: 60_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 5, maxLength: 30 }), async changes => {
        await using trial = await startTrial(engine);
        for (const each of [...BEGINNING, ...changes]) {
          const [expected, found] = await trial.make(each);
          expect(found).toEqual(expected);
        }
        expect(await trial.stored()).toEqual(trial.model());
      }),
      { numRuns: engine === 'sqlite' ? 80 : 30 },
    );
  });
});

/** Two of each, made of each other. */
const BEGINNING: readonly Change[] = TYPES.flatMap(type =>
  (['one', 'two'] as const).map(id => ({
    what: 'create' as const,
    type,
    id,
    refs:
      id === 'one'
        ? [{ id, version: 1 }]
        : [
            { id: 'one' as const, version: 1 },
            { id, version: 1 },
          ],
  })),
);

type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;
type Ref = { readonly id: string; readonly version: number };

async function startTrial(engine: EngineName) {
  const store = await openTestStore(engine);
  const parts = { store, stepTypes: STEP_TYPES, clock: systemClock };
  const documents = createDocuments(parts);
  const applyChanges = createApplyChanges(parts);
  const deleteAgent = createDeleteAgent(parts);
  const map = new Map<string, Entry>();
  /** Outputs are never alike, so that each version can be told from every other. */
  let texts = 0;

  const entryOf = (type: Type, id: string) => map.get(`${type}/${id}`);
  const bodyOf = (type: Type, named: readonly string[]): unknown => {
    if (type === 'agent') return { workflows: named };
    if (type === 'workflow')
      return { workflowSteps: named.map(uri => ({ type: 'output', config: { uri } })) };
    const [text] = named;
    return { outputSet: [{ action: 'a', outputs: [{ valueAlternatives: [{ type: 'text', text }] }] }] };
  };
  const namedIn = (type: Type, refs: readonly Ref[]): readonly string[] => {
    if (type === 'output') {
      texts += 1;
      return [`text ${texts}`];
    }
    const below = type === 'agent' ? 'workflow' : 'output';
    return refs.map(({ id, version }) => `patchbay://${below}/${id}?version=${version}`);
  };
  const versionFor = (entry: Entry | undefined, off: string): number => {
    const current = entry?.versions.length ?? 1;
    return { current, any: 0, stale: Math.max(1, current - 1), ahead: current + 1 }[off]!;
  };
  const isStale = (entry: Entry, version: number) => version !== 0 && version !== entry.versions.length;
  const find = (uri: string) => {
    const { type, id, version } = parseDocumentUri(uri)!;
    return { entry: entryOf(type as Type, id), version };
  };
  const isThere = (uri: string) => {
    const { entry, version } = find(uri);
    return entry?.versions[version - 1] !== undefined;
  };

  /** What the agent names, and what its workflows name. */
  function usedBy(agentId: string): string[] {
    const workflows = entryOf('agent', agentId)?.versions.at(-1) ?? [];
    return workflows.flatMap(one => {
      const { entry, version } = find(one);
      return [one, ...(entry?.versions[version - 1] ?? [])];
    });
  }

  function modelUpdate(type: Type, id: string, version: number, named: readonly string[]): unknown {
    const entry = entryOf(type, id);
    if (!entry || entry.deleted) return 'not_found';
    if (isStale(entry, version)) return 'conflict';
    entry.versions.push(named);
    return entry.versions.length;
  }

  /** What apply_agent_changes does, as it is told in its description. */
  function modelApply(
    id: string,
    version: number,
    mappings: readonly { from: string; to: string }[],
  ): unknown {
    const agent = entryOf('agent', id);
    if (!agent || agent.deleted) return 'not_found';
    if (isStale(agent, version)) return 'conflict';
    const targets = new Map<string, string>();
    for (const { from, to } of mappings) {
      if ((targets.get(from) ?? to) !== to) return 'invalid';
      if (!isThere(to)) return 'not_found';
      targets.set(from, to);
    }
    const before = agent.versions.at(-1)!;
    const saved: { entry: Entry; named: readonly string[] }[] = [];
    let updatedWorkflows = 0;
    const workflows: string[] = [];
    for (const uri of before.map(one => targets.get(one) ?? one)) {
      const { id: workflowId, version: named } = parseDocumentUri(uri)!;
      const { entry } = find(uri);
      const steps = entry?.versions[named - 1];
      if (!entry || !steps) return undo('not_found');
      const after = steps.map(one => targets.get(one) ?? one);
      if (after.join() === steps.join()) {
        workflows.push(uri);
        continue;
      }
      const same = !entry.deleted && entry.versions.at(-1)!.join() === after.join();
      if (!same) {
        if (entry.deleted) return undo('not_found');
        if (isStale(entry, named)) return undo('conflict');
        entry.versions.push(after);
        saved.push({ entry, named: after });
        updatedWorkflows += 1;
      }
      workflows.push(`patchbay://workflow/${workflowId}?version=${entry.versions.length}`);
    }
    if (workflows.join() !== before.join()) agent.versions.push(workflows);
    return { newVersion: agent.versions.length, updatedWorkflows };

    function undo(why: string): string {
      for (const { entry } of saved.reverse()) entry.versions.pop();
      return why;
    }
  }

  function modelDeleteAgent(id: string, version: number, permanent: boolean, cascade: boolean): unknown {
    const agent = entryOf('agent', id);
    if (!agent || (agent.deleted && !permanent)) return 'not_found';
    if (isStale(agent, version)) return 'conflict';
    const gone: string[] = [];
    const remove = (name: string, entry: Entry) => {
      if (permanent) map.delete(name);
      else entry.deleted = true;
      gone.push(name);
    };
    const current = agent.versions.length;
    const workflowNames = cascade ? new Set(agent.versions.flat().map(nameOf)) : new Set<string>();
    const outputNames = new Set(
      [...workflowNames].flatMap(name => (map.get(name)?.versions ?? []).flat().map(nameOf)),
    );
    remove(`agent/${id}`, agent);
    const isNamed = (name: string) =>
      [...map].some(
        ([owner, entry]) =>
          !owner.startsWith('output/') && !entry.deleted && entry.versions.flat().map(nameOf).includes(name),
      );
    for (const names of [workflowNames, outputNames]) {
      for (const name of names) {
        const entry = map.get(name);
        if (entry && !entry.deleted && !isNamed(name)) remove(name, entry);
      }
    }
    return { version: current, gone: gone.slice(1).toSorted() };
  }

  /** What the model says and what the platform says. */
  async function make(it: Change): Promise<readonly [unknown, unknown]> {
    switch (it.what) {
      case 'create': {
        const named = namedIn(it.type, it.refs);
        const name = `${it.type}/${it.id}`;
        const expected = map.has(name) ? 'conflict' : 1;
        if (expected === 1) map.set(name, { versions: [named], deleted: false });
        const created = documents.create(ann, { type: it.type, id: it.id, body: bodyOf(it.type, named) });
        return [expected, await outcome(created.then(({ currentVersion }) => currentVersion))];
      }
      case 'update': {
        const named = namedIn(it.type, it.refs);
        const expectedVersion = versionFor(entryOf(it.type, it.id), it.off);
        const expected = modelUpdate(it.type, it.id, expectedVersion, named);
        const updated = documents.update(ann, {
          type: it.type,
          id: it.id,
          body: bodyOf(it.type, named),
          expectedVersion,
        });
        return [expected, await outcome(updated.then(({ currentVersion }) => currentVersion))];
      }
      case 'update twice at once': {
        const entry = entryOf('output', it.id);
        if (!entry || entry.deleted) return [undefined, undefined];
        const expectedVersion = entry.versions.length;
        const both = [namedIn('output', it.refs), namedIn('output', it.refs)];
        const found = await Promise.all(
          both.map(named =>
            outcome(
              documents
                .update(ann, { type: 'output', id: it.id, body: bodyOf('output', named), expectedVersion })
                .then(({ currentVersion }) => currentVersion),
            ),
          ),
        );
        entry.versions.push(both[found.indexOf(expectedVersion + 1)]!);
        return [[expectedVersion + 1, 'conflict'].toSorted(), found.toSorted()];
      }
      case 'delete': {
        const entry = entryOf(it.type, it.id);
        const expectedVersion = versionFor(entry, it.off);
        let expected: unknown = 'not_found';
        if (entry && (!entry.deleted || it.permanent)) {
          expected = isStale(entry, expectedVersion) ? 'conflict' : entry.versions.length;
          if (expected !== 'conflict') {
            if (it.permanent) map.delete(`${it.type}/${it.id}`);
            else entry.deleted = true;
          }
        }
        const name = { type: it.type, id: it.id };
        const deleted = documents.delete(ann, { ...name, expectedVersion, permanent: it.permanent });
        return [expected, await outcome(deleted)];
      }
      case 'delete agent': {
        const expectedVersion = versionFor(entryOf('agent', it.id), it.off);
        const expected = modelDeleteAgent(it.id, expectedVersion, it.permanent, it.cascade);
        const { permanent, cascade } = it;
        const deleted = deleteAgent(ann, { agentId: it.id, expectedVersion, permanent, cascade });
        const gone = deleted.then(({ version, alsoDeleted }) => ({
          version,
          gone: alsoDeleted.map(({ type, id }) => `${type}/${id}`).toSorted(),
        }));
        return [expected, await outcome(gone)];
      }
      case 'apply': {
        const agentVersion = versionFor(entryOf('agent', it.id), it.off);
        const uri = ({ id, version }: Ref) => `patchbay://${it.type}/${id}?version=${version}`;
        const used = usedBy(it.id).filter(one => one.startsWith(`patchbay://${it.type}/`));
        const mappings = it.mappings.map(({ from, to, inUse }) => {
          const old = inUse === null ? undefined : used[inUse % used.length];
          if (old === undefined) return { from: uri(from), to: uri(to) };
          const { id } = parseDocumentUri(old)!;
          const version = entryOf(it.type, id)?.versions.length ?? 1;
          return { from: old, to: uri({ id, version }) };
        });
        const expected = modelApply(it.id, agentVersion, mappings);
        const applied = applyChanges(ann, {
          agentId: it.id,
          agentVersion,
          mappings: mappings.map(({ from, to }) => ({ oldUri: from, newUri: to })),
          compatible: false,
        });
        const told = applied.then(({ newVersion, updatedWorkflows }) => ({ newVersion, updatedWorkflows }));
        return [expected, await outcome(told)];
      }
    }
  }

  return {
    make,
    model: () =>
      Object.fromEntries(
        [...map].map(([name, { versions, deleted }]) => [name, { versions, deleted }]).toSorted(byName),
      ),
    /** Every version of everything, read by its number. */
    async stored() {
      const stored: [string, Entry][] = [];
      const rows = await store.db
        .selectFrom('documents')
        .select(['type', 'id', 'current_version', 'deleted'])
        .where('type', 'in', TYPES)
        .execute();
      for (const row of rows) {
        const versions: (readonly string[])[] = [];
        for (let version = 1; version <= row.current_version; version += 1) {
          const { body } = await documents.read(ann, { type: row.type as DocumentType, id: row.id, version });
          versions.push(namedBy(body as StoredBody));
        }
        stored.push([`${row.type}/${row.id}`, { versions, deleted: row.deleted === 1 }]);
      }
      return Object.fromEntries(stored.toSorted(byName));
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

interface StoredBody {
  readonly workflows?: readonly string[];
  readonly workflowSteps?: readonly { readonly config: { readonly uri: string } }[];
  readonly outputSet?: readonly {
    readonly outputs: readonly { readonly valueAlternatives: readonly { readonly text: string }[] }[];
  }[];
}

function namedBy({ workflows, workflowSteps, outputSet }: StoredBody): readonly string[] {
  if (workflows) return workflows;
  if (workflowSteps) return workflowSteps.map(({ config }) => config.uri);
  return [outputSet![0]!.outputs[0]!.valueAlternatives[0]!.text];
}

function nameOf(uri: string): string {
  const parsed = parseDocumentUri(uri);
  return parsed ? `${parsed.type}/${parsed.id}` : uri;
}

function byName(
  [left]: readonly [string, unknown] | readonly unknown[],
  [right]: readonly unknown[],
): number {
  return String(left) < String(right) ? -1 : 1;
}

async function outcome(call: Promise<unknown>): Promise<unknown> {
  try {
    return await call;
  } catch (thrown) {
    if (!(thrown instanceof PlatformError)) throw thrown;
    return thrown.kind === 'agent_not_found' ? 'not_found' : thrown.kind;
  }
}
