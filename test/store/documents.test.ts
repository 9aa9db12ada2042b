import type { DocumentType } from '@patchbay/contract/ids';
import { engines, openTestStore } from '@patchbay/testing/stores';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PlatformError } from '../../packages/server/src/kernel/errors.ts';
import type { Store } from '../../packages/server/src/store/store.ts';
import {
  createDocument,
  type Descriptor,
  deleteDocument,
  listDescriptors,
  readDescriptor,
  readDocument,
  updateDocument,
} from '../../packages/server/src/store/tables/documents.ts';

const gone = (type: DocumentType) => (type === 'agent' ? 'agent_not_found' : 'not_found');

/** What the documents table promises, as a map. */
class Model {
  readonly documents = new Map<string, { descriptor: Descriptor; bodies: unknown[]; deleted: boolean }>();

  create(
    type: DocumentType,
    id: string,
    body: unknown,
    name: string,
    description: string,
    at: number,
  ): string | Descriptor {
    if (this.documents.has(`${type}/${id}`)) return 'conflict';
    const descriptor = {
      type,
      id,
      currentVersion: 1,
      name,
      description,
      createdBy: 'ann',
      createdAt: at,
      modifiedBy: 'ann',
      modifiedAt: at,
    };
    this.documents.set(`${type}/${id}`, { descriptor, bodies: [body], deleted: false });
    return descriptor;
  }

  update(
    type: DocumentType,
    id: string,
    expected: number,
    body: unknown,
    name: string | undefined,
    at: number,
  ): string | Descriptor {
    const entry = this.documents.get(`${type}/${id}`);
    if (!entry || entry.deleted) return gone(type);
    if (expected !== 0 && expected !== entry.bodies.length) return 'conflict';
    entry.bodies.push(body);
    entry.descriptor = {
      ...entry.descriptor,
      currentVersion: entry.bodies.length,
      name: name ?? entry.descriptor.name,
      modifiedBy: 'bob',
      modifiedAt: at,
    };
    return entry.descriptor;
  }

  delete(type: DocumentType, id: string, expected: number, permanent: boolean): string | number {
    const entry = this.documents.get(`${type}/${id}`);
    if (!entry || (entry.deleted && !permanent)) return gone(type);
    if (expected !== 0 && expected !== entry.bodies.length) return 'conflict';
    if (permanent) this.documents.delete(`${type}/${id}`);
    else entry.deleted = true;
    return entry.bodies.length;
  }

  body(type: DocumentType, id: string, version: number): unknown {
    const entry = this.documents.get(`${type}/${id}`);
    if (!entry || (version === 0 && entry.deleted)) return undefined;
    return entry.bodies[(version || entry.bodies.length) - 1];
  }

  list(type: DocumentType, filter: string, limit: number): Descriptor[] {
    const has = (text: string) => text.toLowerCase().includes(filter.toLowerCase());
    return [...this.documents.values()]
      .filter(entry => !entry.deleted && entry.descriptor.type === type)
      .map(entry => entry.descriptor)
      .filter(descriptor => has(descriptor.name) || has(descriptor.description))
      .sort((a, b) => b.modifiedAt - a.modifiedAt || (a.id < b.id ? -1 : 1))
      .slice(0, limit);
  }
}

const type = fc.constantFrom<DocumentType>('rules', 'agent');
const id = fc.constantFrom('one', 'two', 'two_b');
const body = fc.jsonValue();
const word = fc.constantFrom(
  '',
  'Árvíz',
  'ÁRVÍZ',
  '100%',
  'a_b',
  'aXb',
  'A!B',
  '!',
  "o'hara",
  'Ελλάδα',
  'crème brûlée\n',
  '\\',
);
const text = fc.array(word, { maxLength: 3 }).map(words => words.join(' '));
const expected = fc.nat(4);
const operation = fc.oneof(
  fc.record({ do: fc.constant('create' as const), type, id, body, name: text, description: text }),
  fc.record({
    do: fc.constant('update' as const),
    type,
    id,
    body,
    expected,
    name: fc.option(text, { nil: undefined }),
  }),
  fc.record({ do: fc.constant('delete' as const), type, id, expected, permanent: fc.boolean() }),
  fc.record({ do: fc.constant('read' as const), type, id, version: fc.nat(4) }),
  fc.record({ do: fc.constant('list' as const), type, filter: word, limit: fc.integer({ min: 1, max: 3 }) }),
);

const json = (value: unknown) => JSON.stringify(value);

async function kindOf<T>(work: Promise<T>): Promise<T | string> {
  return work.catch(error => {
    if (error instanceof PlatformError) return error.kind;
    throw error;
  });
}

async function agree(
  store: Store,
  model: Model,
  step: typeof operation extends fc.Arbitrary<infer O> ? O : never,
  at: number,
) {
  switch (step.do) {
    case 'create': {
      const { type, id, body, name, description } = step;
      const made = store.commit(db =>
        createDocument(db, { type, id, body, name, description, by: 'ann', at }),
      );
      return expect(await kindOf(made)).toEqual(model.create(type, id, body, name, description, at));
    }
    case 'update': {
      const { type, id, body, name, expected } = step;
      const made = store.commit(db =>
        updateDocument(db, { type, id, body, name, expectedVersion: expected, by: 'bob', at }),
      );
      return expect(await kindOf(made)).toEqual(model.update(type, id, expected, body, name, at));
    }
    case 'delete': {
      const { type, id, permanent, expected } = step;
      const gone = store.commit(db =>
        deleteDocument(db, { type, id, permanent, expectedVersion: expected, by: 'bob', at }),
      );
      return expect(await kindOf(gone)).toEqual(model.delete(type, id, expected, permanent));
    }
    case 'read': {
      const read = await readDocument(store.db, step.type, step.id, step.version);
      return expect(json(read?.body)).toBe(json(model.body(step.type, step.id, step.version)));
    }
    case 'list': {
      const listed = await listDescriptors(store.db, step.type, step);
      return expect(listed).toEqual(model.list(step.type, step.filter, step.limit));
    }
  }
}

describe.each(engines)('documents on %s', engine => {
  it('behave like a map of versions, whatever is done to them', async () => {
    await using store = await openTestStore(engine);
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 30 }), async steps => {
        const model = new Model();
        let at = 0;
        for (const step of steps) await agree(store, model, step, at++);
        for (const entry of model.documents.values()) {
          const { type, id } = entry.descriptor;
          expect(await readDescriptor(store.db, type, id)).toEqual(
            entry.deleted ? undefined : entry.descriptor,
          );
          for (const [index, body] of entry.bodies.entries()) {
            expect(json((await readDocument(store.db, type, id, index + 1))?.body)).toBe(json(body));
          }
        }
        await store.db.deleteFrom('documents').execute();
        expect(await store.db.selectFrom('document_versions').selectAll().execute()).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  const draft = {
    type: 'rules',
    id: 'r',
    body: { a: 1 },
    name: 'Rules',
    description: '',
    by: 'ann',
    at: 1,
  } as const;

  it('name both versions to who comes late', async () => {
    await using store = await openTestStore(engine);
    await store.commit(db => createDocument(db, draft));
    await store.commit(db => updateDocument(db, { ...draft, expectedVersion: 1 }));
    const late = store.commit(db => updateDocument(db, { ...draft, expectedVersion: 1 }));
    await expect(late).rejects.toMatchObject({
      kind: 'conflict',
      message:
        'The rules document r is at version 2, not 1: read the current version and make the change from it.',
      details: { currentVersion: 2, expectedVersion: 1 },
    });
  });

  it('let exactly one of many updates from the same version through', async () => {
    await using store = await openTestStore(engine);
    await store.commit(db => createDocument(db, draft));
    const updates = Array.from({ length: 8 }, (_, n) =>
      kindOf(store.commit(db => updateDocument(db, { ...draft, body: n, expectedVersion: 1 }))),
    );
    const results = await Promise.all(updates);
    expect(results.filter(result => result === 'conflict')).toHaveLength(7);
    expect((await readDescriptor(store.db, 'rules', 'r'))?.currentVersion).toBe(2);
  });

  it('give every one of many updates of the current version a version of its own', async () => {
    await using store = await openTestStore(engine);
    await store.commit(db => createDocument(db, draft));
    const updates = Array.from({ length: 8 }, (_, n) =>
      store.commit(db => updateDocument(db, { ...draft, body: n, expectedVersion: 0 })),
    );
    const versions = (await Promise.all(updates)).map(descriptor => descriptor.currentVersion);
    expect(versions.toSorted((a, b) => a - b)).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('find accented letters in either case and either spelling', async () => {
    await using store = await openTestStore(engine);
    await store.commit(db => createDocument(db, { ...draft, name: 'Ügyfél'.normalize('NFD') }));
    for (const filter of ['ÜGYFÉL', 'ügyfél', 'ÜGYFÉL'.normalize('NFD')]) {
      expect(await listDescriptors(store.db, 'rules', { filter, limit: 10 })).toHaveLength(1);
    }
    expect(await listDescriptors(store.db, 'rules', { filter: 'ugyfel', limit: 10 })).toEqual([]);
  });

  it('refuse a negative version and a filter nobody types', async () => {
    await using store = await openTestStore(engine);
    const update = store.commit(db => updateDocument(db, { ...draft, expectedVersion: -1 }));
    await expect(update).rejects.toMatchObject({
      kind: 'invalid',
      message: expect.stringContaining('it is -1'),
    });
    const list = listDescriptors(store.db, 'rules', { filter: 'x'.repeat(1001), limit: 10 });
    await expect(list).rejects.toMatchObject({ kind: 'invalid', message: expect.stringContaining('filter') });
  });
});
