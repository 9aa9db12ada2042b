import { type DocumentRef, type DocumentType, formatDocumentUri } from '@patchbay/contract/ids';
import type { ExportedAgent, ExportedDocument } from '@patchbay/contract/operations/exports';
import { mayChangeAgent } from '../../kernel/access.ts';
import type { Clock } from '../../kernel/clock.ts';
import { PlatformError } from '../../kernel/errors.ts';
import { canonicalJson } from '../../kernel/json.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { References } from '../../secrets/references.ts';
import type { Db, Store } from '../../store/store.ts';
import { findAgentOwner, insertAgent, setAgentMcpEnabled } from '../../store/tables/agents.ts';
import {
  addVersion,
  createDocument,
  findDocumentCreator,
  readDescriptor,
  readDocument,
  renameDocument,
  updateDocument,
} from '../../store/tables/documents.ts';
import { compileStep } from '../deployment/compiled-agent.ts';
import { DOCUMENT_SCHEMAS } from '../document/documents.ts';
import { namedBy, withReferences } from '../document/named-by.ts';
import { parseDocument, parseStored } from '../document/parse-document.ts';
import type { WorkflowDocument } from '../document/workflow.ts';
import type { StepType } from '../step/step.ts';

/**
 * Saves an exported agent, all of it or nothing, and deploys nothing. Rejects with a `PlatformError`: `invalid` for an export that
 * is not whole or not right, `forbidden` when the agent or a document belongs to somebody else, `conflict` when there is something
 * else under an id and version.
 */
export type ImportAgent = (
  principal: Principal,
  request: {
    readonly file: ExportedAgent;
    /** Saves what is another here as the next versions, and has the references follow. */
    readonly nextVersions: boolean;
  },
) => Promise<ImportedAgent>;

export interface ImportedAgent {
  readonly agentId: string;
  readonly agentVersion: number;
  /** In the order of the export. */
  readonly documents: readonly SavedDocument[];
  /** Names the documents refer to that are not here yet. */
  readonly missing: { readonly secrets: readonly string[]; readonly variables: readonly string[] };
}

interface SavedDocument extends DocumentRef {
  readonly changed: boolean;
}

/** What a unit of the import needs to know. */
interface Import {
  readonly db: Db;
  readonly by: string;
  readonly at: number;
}

export function createImportAgent(deps: {
  readonly store: Store;
  readonly stepTypes: readonly StepType[];
  readonly clock: Clock;
  readonly references: Pick<References, 'namesIn'>;
}): ImportAgent {
  const { store, stepTypes, clock, references } = deps;

  return async (principal, { file: raw, nextVersions }) => {
    const file = { ...raw, documents: parseBodies(raw.documents) };
    requireWhole(file);
    await compileSteps(file.documents, stepTypes);
    const saved = await store.commit(async db => {
      const { agent: id, mcp_enabled: mcpEnabled } = file;
      const at = clock.now();
      const inserted = await insertAgent(db, { id, ownerId: principal.id, mcpEnabled, createdAt: at });
      await refuseForeign(db, principal, file);
      if (!inserted) await setAgentMcpEnabled(db, id, mcpEnabled);
      // What an admin adds to somebody's agent is that person's.
      const by = (await findAgentOwner(db, id)) ?? principal.id;
      return saveAll({ db, by, at }, file.documents, nextVersions);
    });
    const names = await references.namesIn(file.documents.map(({ body }) => body));
    const missing = (list: typeof names.secrets) =>
      list.filter(({ isThere }) => !isThere).map(({ name }) => name);
    return {
      agentId: file.agent,
      agentVersion: saved[0]!.version,
      documents: saved,
      missing: { secrets: missing(names.secrets), variables: missing(names.variables) },
    };
  };
}

async function refuseForeign(
  db: Db,
  principal: Principal,
  { agent, documents }: ExportedAgent,
): Promise<void> {
  const owners = [
    { what: `the agent ${agent}`, ownerId: await findAgentOwner(db, agent) },
    ...(await Promise.all(
      documents.map(async ({ type, id }) => ({
        what: `the ${type} ${id}`,
        ownerId: type === 'agent' ? undefined : await findDocumentCreator(db, type, id),
      })),
    )),
  ];
  for (const { what, ownerId } of owners) {
    if (ownerId === undefined || mayChangeAgent(principal, { ownerId })) continue;
    throw new PlatformError(
      'forbidden',
      `file: ${what} belongs to somebody else here; give it another id in the file, also where it is named.`,
    );
  }
}

function parseBodies(documents: readonly ExportedDocument[]): ExportedDocument[] {
  return documents.map((document, index) => {
    try {
      const body = parseDocument(DOCUMENT_SCHEMAS[document.type], document.body);
      return { ...document, body: body as ExportedDocument['body'] };
    } catch (thrown) {
      if (!(thrown instanceof PlatformError)) throw thrown;
      const { message, kind, details } = thrown;
      throw new PlatformError(kind, `file.documents[${index}]: ${message}`, {
        cause: thrown,
        ...(details && { details }),
      });
    }
  });
}

/** Exactly the agent and what it is made of, each once. */
function requireWhole({ agent, version, documents }: ExportedAgent): void {
  const all = new Set(documents.map(formatDocumentUri));
  const refuse = (why: string) => {
    throw new PlatformError('invalid', `file.documents: ${why}; export the agent again.`);
  };
  const first = documents[0] && formatDocumentUri(documents[0]);
  const wanted = formatDocumentUri({ type: 'agent', id: agent, version });
  if (first !== wanted) refuse(`the first must be ${wanted}`);
  if (all.size < documents.length) refuse('a document is there twice');
  const named = new Set([wanted, ...documents.flatMap(namedBy).map(formatDocumentUri)]);
  const lost = [...named].find(uri => !all.has(uri));
  if (lost !== undefined) refuse(`${lost} is named and not there`);
  const idle = [...all].find(uri => !named.has(uri));
  if (idle !== undefined) refuse(`nothing names ${idle}`);
}

async function compileSteps(
  documents: readonly ExportedDocument[],
  stepTypes: readonly StepType[],
): Promise<void> {
  const bodies = new Map(documents.map(document => [formatDocumentUri(document), document.body]));
  for (const { type, id, body } of documents) {
    if (type !== 'workflow') continue;
    for (const [index, step] of (body as WorkflowDocument).workflowSteps.entries()) {
      const path = `file: workflow ${id}, workflowSteps[${index}]`;
      const load = async (ref: DocumentRef) => bodies.get(formatDocumentUri(ref))!;
      await compileStep(
        step,
        { load, agent: { steps: (body as WorkflowDocument).workflowSteps } },
        stepTypes,
        path,
      );
    }
  }
}

/** The types that name others, each after what it names. */
const NAMING: readonly DocumentType[] = ['llm', 'workflow', 'agent'];

/** What names others comes after them, and a version after the one before. */
async function saveAll(
  run: Import,
  documents: readonly ExportedDocument[],
  nextVersions: boolean,
): Promise<SavedDocument[]> {
  const saved = new Map<string, SavedDocument>();
  const rank = ({ type }: ExportedDocument) => NAMING.indexOf(type);
  const inOrder = documents.toSorted((a, b) => rank(a) - rank(b) || a.version - b.version);
  for (const document of inOrder) {
    const uri = formatDocumentUri(document);
    if (!nextVersions) saved.set(uri, await saveAsItIs(run, document));
    else {
      const follow = (named: string) => formatDocumentUri(saved.get(named)!);
      const body = withReferences(document, follow) as ExportedDocument['body'];
      saved.set(uri, await saveAsNext(run, { ...document, body }));
    }
  }
  return documents.map(document => saved.get(formatDocumentUri(document))!);
}

async function saveAsItIs(run: Import, document: ExportedDocument): Promise<SavedDocument> {
  const { db, by, at } = run;
  const { type, id, version } = document;
  const stored = await readDocument(db, type, id, version);
  const descriptor = await readDescriptor(db, type, id);
  if (!stored || !descriptor) {
    await addVersion(db, { ...document, by, at });
    return { type, id, version, changed: true };
  }
  if (!isSame(document, stored.body)) {
    throw new PlatformError(
      'conflict',
      `file: ${formatDocumentUri(document)} is here and holds something else. Import with nextVersions (--next) to save the file's as the next version.`,
    );
  }
  // Words stand beside the versions: those of an earlier version are history.
  return {
    type,
    id,
    version,
    changed: descriptor.currentVersion === version && (await rename(run, document)),
  };
}

async function saveAsNext(run: Import, document: ExportedDocument): Promise<SavedDocument> {
  const { db, by, at } = run;
  const { type, id, name, description, body } = document;
  const current = await readDocument(db, type, id);
  if (current && isSame(document, current.body)) {
    return { type, id, version: current.version, changed: await rename(run, document) };
  }
  const next = { type, id, name, description, body, by, at };
  const { currentVersion } = current
    ? await updateDocument(db, { ...next, expectedVersion: current.version })
    : await createDocument(db, next);
  return { type, id, version: currentVersion, changed: true };
}

/** False when the words are the same already. */
async function rename(
  { db, by, at }: Import,
  { type, id, name, description }: ExportedDocument,
): Promise<boolean> {
  const descriptor = await readDescriptor(db, type, id);
  if (descriptor?.name === name && descriptor.description === description) return false;
  await renameDocument(db, { type, id, name, description, expectedVersion: 0, by, at });
  return true;
}

function isSame({ type, body }: ExportedDocument, stored: unknown): boolean {
  return canonicalJson(parseStored(DOCUMENT_SCHEMAS[type], stored)) === canonicalJson(body);
}
