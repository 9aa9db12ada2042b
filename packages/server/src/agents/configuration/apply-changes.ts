import { type DocumentRef, formatDocumentUri, parseDocumentUri } from '@patchbay/contract/ids';
import { z } from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import { PlatformError } from '../../kernel/errors.ts';
import { canonicalJson } from '../../kernel/json.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { Db, Store } from '../../store/store.ts';
import { lockAgent } from '../../store/tables/agents.ts';
import { readDocument, staleVersion, updateDocument } from '../../store/tables/documents.ts';
import { documentNotFound, loadFor, requireDocument } from '../deployment/reach.ts';
import { agentDocument } from '../document/agent.ts';
import { llmDocument } from '../document/llm.ts';
import { withReferences } from '../document/named-by.ts';
import { parseStored, parseStrictly } from '../document/parse-document.ts';
import { mapStep, referencesOf, workflowDocument } from '../document/workflow.ts';

const MAX_MAPPINGS = 100;

const mappingsSchema = z
  .array(z.strictObject({ oldUri: z.string(), newUri: z.string() }))
  .max(MAX_MAPPINGS, `must have at most ${MAX_MAPPINGS} entries`);

/** One reference in place of another, as the caller wrote them. */
export interface Mapping {
  readonly oldUri: string;
  readonly newUri: string;
}

export interface ChangesToApply {
  readonly agentId: string;
  /** 0 means whatever is current. */
  readonly agentVersion: number;
  /** A list of `Mapping`, still to be checked. */
  readonly mappings: unknown;
  /** May running conversations go on with the new version? */
  readonly compatible: boolean;
}

export interface AppliedChanges {
  readonly previousVersion: number;
  /** The same as before when nothing matched. */
  readonly newVersion: number;
  readonly updatedWorkflows: number;
  readonly totalWorkflows: number;
  readonly matched: readonly Mapping[];
  readonly unmatched: readonly Mapping[];
}

/** Where references lead from now on, and which of the mappings were of use. */
interface Redirection {
  map(uri: unknown): unknown;
  readonly used: ReadonlySet<string>;
}

/**
 * Puts other documents into an agent, all of it or nothing: tasks of models and then workflows that name one are saved once each, then the
 * agent once. References are compared in our form, whatever they are written in; also workflows themselves can be mapped. Rejects with
 * `invalid` for mappings that are none, `not_found` for a new document that is not there for this caller, `conflict` for a stale
 * version of the agent, and of a workflow that has moved on since the agent named it.
 */
export type ApplyChanges = (principal: Principal, changes: ChangesToApply) => Promise<AppliedChanges>;

export function createApplyChanges(deps: { readonly store: Store; readonly clock: Clock }): ApplyChanges {
  const { store, clock } = deps;
  return async (principal, { agentId, agentVersion, mappings: raw, compatible }) => {
    const mappings = parseStrictly('resourceMappings', mappingsSchema, raw);
    await requireDocument(store.db, principal, { type: 'agent', id: agentId });
    return store.commit(async db => {
      await lockAgent(db, agentId);
      const agent = await readDocument(db, 'agent', agentId);
      if (!agent) throw documentNotFound('agent', agentId);
      if (agentVersion !== 0 && agentVersion !== agent.version) {
        throw staleVersion('agent', agentId, {
          currentVersion: agent.version,
          expectedVersion: agentVersion,
        });
      }
      const body = parseStored(agentDocument, agent.body);
      const redirection = await redirect(db, principal, mappings);
      const by = { by: principal.id, at: clock.now() };

      let updatedWorkflows = 0;
      const workflows: string[] = [];
      for (const uri of body.workflows) {
        const found = parseDocumentUri(String(redirection.map(uri)))!;
        const saved = await saveWorkflow(db, principal, found, redirection, by);
        if (saved.isNew) updatedWorkflows += 1;
        workflows.push(formatDocumentUri(saved.ref));
      }
      const isUsed = ({ oldUri }: Mapping) => redirection.used.has(normal(oldUri));
      const changes = {
        previousVersion: agent.version,
        newVersion: agent.version,
        updatedWorkflows,
        totalWorkflows: workflows.length,
        matched: mappings.filter(isUsed),
        unmatched: mappings.filter(mapping => !isUsed(mapping)),
      };
      if (canonicalJson(workflows) === canonicalJson(body.workflows)) return changes;
      const { currentVersion } = await updateDocument(db, {
        type: 'agent',
        id: agentId,
        body: { ...body, workflows },
        expectedVersion: agent.version,
        compatible,
        ...by,
      });
      return { ...changes, newVersion: currentVersion };
    });
  };
}

async function redirect(db: Db, principal: Principal, mappings: readonly Mapping[]): Promise<Redirection> {
  const load = loadFor(db, principal);
  const targets = new Map<string, string>();
  for (const [index, { oldUri, newUri }] of mappings.entries()) {
    const [from, to] = [parseDocumentUri(oldUri.trim()), parseDocumentUri(newUri.trim())];
    const path = `resourceMappings: $[${index}]`;
    if (!from || !to || from.type !== to.type) {
      throw new PlatformError(
        'invalid',
        `${path} must have two references of one type, such as patchbay://rules/<id>?version=<n>.`,
      );
    }
    const [start, end] = [formatDocumentUri(from), formatDocumentUri(to)];
    if ((targets.get(start) ?? end) !== end) {
      throw new PlatformError('invalid', `${path} maps ${start} once more, to something else; keep one.`);
    }
    await load(to);
    targets.set(start, end);
  }
  const used = new Set<string>();
  return {
    used,
    map(uri) {
      const target = typeof uri === 'string' ? targets.get(uri) : undefined;
      if (target === undefined) return uri;
      used.add(uri as string);
      return target;
    },
  };
}

interface By {
  readonly by: string;
  readonly at: number;
}

/** The workflow as it is to be: a new version where one of its steps names something else, else as it was. */
async function saveWorkflow(
  db: Db,
  principal: Principal,
  ref: DocumentRef,
  redirection: Redirection,
  by: By,
): Promise<Saved> {
  const before = parseStored(workflowDocument, await loadFor(db, principal)(ref));
  const models = await saveModels(
    db,
    principal,
    before.workflowSteps.map(step => mapStep(step, redirection.map)).flatMap(referencesOf),
    redirection,
    by,
  );
  const follow = (uri: unknown) => {
    const mapped = redirection.map(uri);
    return models.get(mapped) ?? mapped;
  };
  const body = { ...before, workflowSteps: before.workflowSteps.map(step => mapStep(step, follow)) };
  return saveNext(db, ref, { before, body }, by);
}

/** Tasks of models name documents, too: where those that a workflow names go now, by where they were. */
async function saveModels(
  db: Db,
  principal: Principal,
  named: readonly DocumentRef[],
  redirection: Redirection,
  by: By,
): Promise<ReadonlyMap<unknown, string>> {
  const saved = new Map<unknown, string>();
  for (const ref of named) {
    const uri = formatDocumentUri(ref);
    if (ref.type !== 'llm' || saved.has(uri)) continue;
    const before = parseStored(llmDocument, await loadFor(db, principal)(ref));
    const body = withReferences({ type: 'llm', body: before }, one => String(redirection.map(one)));
    saved.set(uri, formatDocumentUri((await saveNext(db, ref, { before, body }, by)).ref));
  }
  return saved;
}

interface Saved {
  readonly ref: DocumentRef;
  readonly isNew: boolean;
}

/** A new version where it is another document now. */
async function saveNext(
  db: Db,
  ref: DocumentRef,
  { before, body }: { readonly before: unknown; readonly body: unknown },
  by: By,
): Promise<Saved> {
  if (canonicalJson(body) === canonicalJson(before)) return { ref, isNew: false };
  const { type, id } = ref;
  const current = await readDocument(db, type, id);
  // Another agent that shares the document was changed in the same way.
  if (current && canonicalJson(current.body) === canonicalJson(body)) {
    return { ref: { ...ref, version: current.version }, isNew: false };
  }
  const { currentVersion } = await updateDocument(db, {
    type,
    id,
    body,
    expectedVersion: ref.version,
    ...by,
  });
  return { ref: { ...ref, version: currentVersion }, isNew: true };
}

function normal(uri: string): string {
  return formatDocumentUri(parseDocumentUri(uri.trim())!);
}
