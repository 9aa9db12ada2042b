import { type DocumentRef, formatDocumentUri } from '@patchbay/contract/ids';
import {
  EXPORT_FORM,
  type ExportedAgent,
  type ExportedDocument,
} from '@patchbay/contract/operations/exports';
import { PlatformError } from '../../kernel/errors.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { References } from '../../secrets/references.ts';
import type { Variables } from '../../secrets/variables.ts';
import type { Store } from '../../store/store.ts';
import { findAgent } from '../../store/tables/agents.ts';
import { readDescriptor, readDocument } from '../../store/tables/documents.ts';
import { agentNotFound } from '../deployment/agent-not-found.ts';
import type { Catalogue } from '../deployment/catalogue.ts';
import { reachesDocument } from '../deployment/reach.ts';
import { DOCUMENT_SCHEMAS } from '../document/documents.ts';
import { namedBy } from '../document/named-by.ts';
import { parseStored } from '../document/parse-document.ts';

/**
 * One version of an agent, 0 for the latest, with every document it is made of. Rejects as `Catalogue.getConfiguration`, and with
 * `not_found` when a document it names is not there for this caller.
 */
export type ExportAgent = (
  principal: Principal,
  request: {
    readonly agentId: string;
    readonly version?: number | undefined;
    /** Values of the variables that may be exported. */
    readonly includeVariables: boolean;
  },
) => Promise<ExportedAgent>;

/** As many variables as there may be. */
const ALL_VARIABLES = 1_000;

export function createExportAgent(deps: {
  readonly store: Store;
  readonly catalogue: Catalogue;
  readonly references: Pick<References, 'namesIn'>;
  readonly variables: Pick<Variables, 'list'>;
}): ExportAgent {
  const { store, catalogue, references, variables } = deps;

  async function exported(principal: Principal, ref: DocumentRef): Promise<ExportedDocument> {
    const document = (await reachesDocument(store.db, principal, ref))
      ? await readDocument(store.db, ref.type, ref.id, ref.version)
      : undefined;
    if (!document) throw new PlatformError('not_found', `${formatDocumentUri(ref)} is not there.`);
    const descriptor = await readDescriptor(store.db, ref.type, ref.id);
    return {
      type: ref.type,
      id: ref.id,
      version: ref.version,
      name: descriptor?.name ?? ref.id,
      description: descriptor?.description ?? '',
      body: parseStored(DOCUMENT_SCHEMAS[ref.type], document.body) as ExportedDocument['body'],
    };
  }

  /** The agent, then its workflows, then what those name, each once and in the order it is named first. */
  async function collect(principal: Principal, agent: DocumentRef): Promise<ExportedDocument[]> {
    const documents: ExportedDocument[] = [];
    const waiting = [agent];
    const seen = new Set<string>();
    // The list grows while it is walked.
    for (const ref of waiting) {
      const uri = formatDocumentUri(ref);
      if (seen.has(uri)) continue;
      seen.add(uri);
      const document = await exported(principal, ref);
      documents.push(document);
      waiting.push(...namedBy(document));
    }
    return documents;
  }

  async function valuesOf(includeVariables: boolean) {
    const all = includeVariables ? await variables.list({ after: '', limit: ALL_VARIABLES }) : [];
    return new Map(all.filter(({ exportable }) => exportable).map(variable => [variable.name, variable]));
  }

  return async (principal, { agentId, version, includeVariables }) => {
    const { document } = await catalogue.getConfiguration(principal, { agentId, version });
    const agent = await findAgent(store.db, agentId);
    if (!agent) throw agentNotFound(agentId);
    const documents = await collect(principal, { type: 'agent', id: agentId, version: document.version });
    const names = await references.namesIn(documents.map(({ body }) => body));
    const values = await valuesOf(includeVariables);
    return {
      patchbay_export: EXPORT_FORM,
      agent: agentId,
      version: document.version,
      mcp_enabled: agent.mcpEnabled,
      secrets: names.secrets.map(({ name }) => name),
      variables: names.variables.map(({ name }) => {
        const { value, description } = values.get(name) ?? {};
        return { name, ...(value !== undefined && { value, description }) };
      }),
      documents,
    };
  };
}
