import type { DocumentType } from '@patchbay/contract/ids';
import { agentIdSchema } from '@patchbay/contract/ids';
import { mayUseDocument, scopeOf } from '../../kernel/access.ts';
import type { Clock } from '../../kernel/clock.ts';
import { PlatformError } from '../../kernel/errors.ts';
import { newDocumentId } from '../../kernel/ids.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { Db, Store } from '../../store/store.ts';
import { findAgentOwner, insertAgent, listAgentDescriptors } from '../../store/tables/agents.ts';
import { deleteDeploymentsOf } from '../../store/tables/deployments.ts';
import {
  createDocument,
  type Descriptor,
  type Document,
  type DocumentName,
  deleteDocument,
  listDescriptors,
  readDescriptor,
  readDocument,
  renameDocument,
  updateDocument,
} from '../../store/tables/documents.ts';
import { compileStep } from '../deployment/compiled-agent.ts';
import { documentNotFound, loadFor, requireDocument } from '../deployment/reach.ts';
import { DOCUMENT_SCHEMAS } from '../document/documents.ts';
import { parseDocument, parseStrictly } from '../document/parse-document.ts';
import type { WorkflowDocument } from '../document/workflow.ts';
import type { LoadDocument, StepType } from '../step/step.ts';

/** The words people know a document by. */
export interface Words {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
}

/**
 * What agents are made of, for those who write it: everybody their own, an admin everybody's. Bodies are parsed strictly and
 * kept with references in our form. Rejects with a `PlatformError`: `invalid` naming field, path and known fields;
 * `not_found` (`agent_not_found` for agents) alike for what is not there and what belongs to others; `conflict` on a stale
 * `expectedVersion`, where 0 means whatever is current.
 */
export interface Documents {
  /** Version 1 of a document, under the id that is given or a made-up one. `conflict` when that id is taken. */
  create(
    principal: Principal,
    document: Words & {
      readonly type: DocumentType;
      readonly id?: string | undefined;
      readonly body: unknown;
    },
  ): Promise<Descriptor>;
  /** The next version. `compatible`: running conversations of an agent may go on with it. */
  update(
    principal: Principal,
    change: DocumentName &
      Words & { readonly expectedVersion: number; readonly body: unknown; readonly compatible?: boolean },
  ): Promise<Descriptor>;
  /** Other words, and no version. */
  rename(
    principal: Principal,
    change: DocumentName & Words & { readonly expectedVersion: number },
  ): Promise<Descriptor>;
  /**
   * Hides it, or removes every version when permanent, and answers the version that was current. An agent is undeployed in the
   * same moment.
   */
  delete(
    principal: Principal,
    deletion: DocumentName & { readonly expectedVersion: number; readonly permanent: boolean },
  ): Promise<number>;
  /** Without a version, or with 0, the current one; by number also of a document that is hidden. */
  read(
    principal: Principal,
    wanted: DocumentName & { readonly version?: number | undefined },
  ): Promise<Document>;
  /** Last changed first. `filter` is contained in name or description, whatever the case of the letters. */
  list(
    principal: Principal,
    wanted: { readonly type: DocumentType; readonly filter?: string | undefined; readonly limit: number },
  ): Promise<Descriptor[]>;
}

export function createDocuments(deps: {
  readonly store: Store;
  readonly stepTypes: readonly StepType[];
  readonly clock: Clock;
}): Documents {
  const { store, stepTypes, clock } = deps;

  /** The body as it is stored, when it is right as far as can be known without what it names. */
  async function checked(principal: Principal, type: DocumentType, raw: unknown): Promise<unknown> {
    const body = parseDocument(DOCUMENT_SCHEMAS[type], raw);
    if (type === 'workflow') {
      await checkWorkflow(body as WorkflowDocument, loadFor(store.db, principal), stepTypes);
    } else if (stepTypes.some(step => step.type === type)) {
      const step = { type, config: { uri: `patchbay://${type}/itself?version=1` } };
      await compileStep(step, { load: async () => body }, stepTypes, `${type} document`);
    }
    return body;
  }

  const stamp = (principal: Principal) => ({ by: principal.id, at: clock.now() });

  return {
    async create(principal, { type, id = newDocumentId(type), name = id, description = '', body }) {
      parseStrictly('id', agentIdSchema, id);
      const document = { type, id, name, description, body: await checked(principal, type, body) };
      return store.commit(async db => {
        if (type === 'agent') await claimAgentId(db, principal, id, clock.now());
        return createDocument(db, { ...document, ...stamp(principal) });
      });
    },

    async update(principal, { body: raw, ...change }) {
      await requireDocument(store.db, principal, change);
      const body = await checked(principal, change.type, raw);
      return store.commit(db => updateDocument(db, { ...change, body, ...stamp(principal) }));
    },

    async rename(principal, change) {
      await requireDocument(store.db, principal, change);
      return store.commit(db => renameDocument(db, { ...change, ...stamp(principal) }));
    },

    async delete(principal, deletion) {
      await requireDocument(store.db, principal, deletion);
      return store.commit(async db => {
        if (deletion.type === 'agent') await deleteDeploymentsOf(db, deletion.id);
        return deleteDocument(db, { ...deletion, ...stamp(principal) });
      });
    },

    async read(principal, { type, id, version = 0 }) {
      await requireDocument(store.db, principal, { type, id });
      const document = await readDocument(store.db, type, id, version);
      if (document) return document;
      const descriptor = await readDescriptor(store.db, type, id);
      if (!descriptor) throw documentNotFound(type, id);
      throw new PlatformError(
        'not_found',
        `version: ${type} ${id} has no version ${version}; the latest is ${descriptor.currentVersion}.`,
      );
    },

    list(principal, { type, filter, limit }) {
      const scope = scopeOf(principal);
      if (type === 'agent') return listAgentDescriptors(store.db, { scope, filter, limit });
      const createdBy = scope.kind === 'owned' ? scope.ownerId : undefined;
      return listDescriptors(store.db, type, { filter, createdBy, limit });
    },
  };
}

/** An id stays with its owner, also when the agent is gone. */
async function claimAgentId(db: Db, principal: Principal, id: string, at: number): Promise<void> {
  if (await insertAgent(db, { id, ownerId: principal.id, mcpEnabled: false, createdAt: at })) return;
  const ownerId = await findAgentOwner(db, id);
  if (ownerId !== undefined && mayUseDocument(principal, { ownerId })) return;
  throw new PlatformError('conflict', `id: "${id}" is taken; choose another id.`);
}

/** Compiles every step whose documents are there already; the others are compiled when the agent is deployed. */
async function checkWorkflow(
  { workflowSteps }: WorkflowDocument,
  load: LoadDocument,
  stepTypes: readonly StepType[],
): Promise<void> {
  for (const [index, step] of workflowSteps.entries()) {
    const path = `workflow document, $.workflowSteps[${index}]`;
    await compileStep(step, { load, agent: { steps: workflowSteps } }, stepTypes, path).catch(thrown => {
      const isLater = thrown instanceof PlatformError && thrown.kind === 'not_found';
      if (!isLater) throw thrown;
    });
  }
}
