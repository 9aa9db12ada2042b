import { DOCUMENT_TYPES, type DocumentRef, type DocumentType } from '@patchbay/contract/ids';
import { mayChangeAgent } from '../../kernel/access.ts';
import type { Clock } from '../../kernel/clock.ts';
import { PlatformError } from '../../kernel/errors.ts';
import { canonicalJson } from '../../kernel/json.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { References } from '../../secrets/references.ts';
import type { Db, Store } from '../../store/store.ts';
import { findAgentOwner, insertAgent, setAgentMcpEnabled } from '../../store/tables/agents.ts';
import { findDeployment, replaceDeployment } from '../../store/tables/deployments.ts';
import {
  createDocument,
  findDocumentCreator,
  readDescriptor,
  readDocument,
  updateDocument,
} from '../../store/tables/documents.ts';
import {
  type AgentFile,
  agentOf,
  contentDocuments,
  parseAgentFile,
  workflowOf,
} from '../document/agent-file.ts';
import type { LoadDocument, StepType } from '../step/step.ts';
import { type CompiledAgent, compileAgent } from './compiled-agent.ts';
import { loadFor } from './reach.ts';

export interface AgentFiles {
  /**
   * Saves what changed of an agent file as new versions and deploys the agent, all of it or nothing: a file that does not
   * compile leaves no trace. The same file again changes nothing. Rejects with a `PlatformError`: `invalid`, `forbidden`
   * for somebody else's agent or secret, `conflict` when somebody deployed it meanwhile.
   */
  deploy(principal: Principal, file: unknown): Promise<DeployedFile>;
  /** As `deploy` for several parsed files, all of them or none: what this resolves with saves and deploys them, and rejects with `conflict` when somebody else did meanwhile. */
  prepareAll(principal: Principal, files: readonly AgentFile[]): Promise<() => Promise<DeployedFile[]>>;
}

export interface DeployedFile {
  readonly agentId: string;
  readonly agentVersion: number;
  readonly mcpEnabled: boolean;
  /** Every document of the file with the version that is deployed, in a fixed order. */
  readonly documents: readonly (DocumentRef & { readonly changed: boolean })[];
}

/** Where an agent file is deployed. */
const ENVIRONMENT = 'production';

/** The documents a file is made of, besides the agent itself. */
const FILE_TYPES = DOCUMENT_TYPES.filter(type => type !== 'agent');

/** A document as it will be after the deployment. */
interface PlannedDocument {
  readonly type: DocumentType;
  readonly body: unknown;
  readonly version: number;
  readonly changed: boolean;
}

export function createAgentFiles(deps: {
  readonly store: Store;
  readonly stepTypes: readonly StepType[];
  readonly clock: Clock;
  readonly references: Pick<References, 'checkDeployment'>;
}): AgentFiles {
  const { store, stepTypes, clock, references } = deps;

  async function planDocument(id: string, type: DocumentType, body: unknown): Promise<PlannedDocument> {
    const current = await readDocument(store.db, type, id);
    const changed = current === undefined || canonicalJson(current.body) !== canonicalJson(body);
    return { type, body, changed, version: (current?.version ?? 0) + (changed ? 1 : 0) };
  }

  /** Every document with the version it will have: each refers to the ones before it. */
  async function plan(principal: Principal, file: AgentFile): Promise<PlannedDocument[]> {
    const id = file.agent;
    // Documents can be made without an agent: those of the same id may be somebody else's.
    for (const type of FILE_TYPES)
      refuseForeign(principal, id, await findDocumentCreator(store.db, type, id));
    const planned: PlannedDocument[] = [];
    for (const { type, body } of contentDocuments(file)) planned.push(await planDocument(id, type, body));
    const versionOf = (type: DocumentType) => planned.find(document => document.type === type)?.version ?? 0;
    planned.push(await planDocument(id, 'workflow', workflowOf(file, versionOf)));
    const agent = await planDocument(id, 'agent', agentOf(file, versionOf('workflow')));
    const descriptor = await readDescriptor(store.db, 'agent', id);
    const renamed =
      descriptor !== undefined &&
      (descriptor.name !== file.name || descriptor.description !== file.description);
    // Words are kept beside the versions, not in them; new words are a change of the agent all the same.
    planned.push(renamed && !agent.changed ? { ...agent, changed: true, version: agent.version + 1 } : agent);
    return planned;
  }

  /** With the documents of the file, and those that it names besides. */
  async function compile(
    principal: Principal,
    id: string,
    planned: readonly PlannedDocument[],
  ): Promise<{ readonly compiled: CompiledAgent; readonly bodies: readonly unknown[] }> {
    const agent = planned.at(-1)!;
    const bodies: unknown[] = planned.map(({ body }) => body);
    const loadOther = loadFor(store.db, principal);
    const load: LoadDocument = async ref => {
      const own =
        ref.id === id && planned.find(({ type, version }) => type === ref.type && version === ref.version);
      if (own) return own.body;
      const other = await loadOther(ref);
      bodies.push(other);
      return other;
    };
    const body = agent.body as ReturnType<typeof agentOf>;
    return {
      compiled: await compileAgent({ agentId: id, version: agent.version, body }, load, stepTypes),
      bodies,
    };
  }

  async function save(db: Db, principal: Principal, file: AgentFile, planned: readonly PlannedDocument[]) {
    const id = file.agent;
    const at = clock.now();
    const by = principal.id;
    const inserted = await insertAgent(db, {
      id,
      ownerId: principal.id,
      mcpEnabled: file.mcp_enabled,
      createdAt: at,
    });
    const ownerId = inserted ? by : ((await findAgentOwner(db, id)) ?? by);
    if (!inserted) {
      refuseForeign(principal, id, ownerId);
      await setAgentMcpEnabled(db, id, file.mcp_enabled);
    }
    for (const { type, body, version, changed } of planned) {
      if (!changed) continue;
      const words =
        type === 'agent'
          ? { name: file.name, description: file.description }
          : { name: `${id} ${type}`, description: '' };
      const document = { type, id, body, by, at, ...words };
      // What an admin adds to somebody's agent is that person's.
      if (version === 1) await createDocument(db, { ...document, by: ownerId });
      else await updateDocument(db, { ...document, expectedVersion: version - 1 });
    }
  }

  async function prepare(principal: Principal, file: AgentFile): Promise<Prepared> {
    const id = file.agent;
    refuseForeign(principal, id, await findAgentOwner(store.db, id));
    const planned = await plan(principal, file);
    const { compiled, bodies } = await compile(principal, id, planned);
    await references.checkDeployment(id, bodies);
    return { file, planned, version: compiled.version };
  }

  /** Part of a unit. */
  async function put(db: Db, principal: Principal, { file, planned, version }: Prepared): Promise<void> {
    const id = file.agent;
    await save(db, principal, file, planned);
    const deployed = await findDeployment(db, ENVIRONMENT, id);
    if (deployed?.agentVersion === version && deployed.status === 'READY') return;
    await replaceDeployment(db, {
      environment: ENVIRONMENT,
      agentId: id,
      agentVersion: version,
      status: 'READY',
      deployedBy: principal.id,
      deployedAt: clock.now(),
    });
  }

  return {
    async deploy(principal, raw) {
      const prepared = await prepare(principal, parseAgentFile(raw));
      await store.commit(db => put(db, principal, prepared));
      return answerOf(prepared);
    },

    async prepareAll(principal, files) {
      const all: Prepared[] = [];
      for (const file of files) all.push(await prepare(principal, file));
      return async () => {
        await store.commit(async db => {
          for (const prepared of all) await put(db, principal, prepared);
        });
        return all.map(answerOf);
      };
    },
  };
}

/** A file that can be deployed, and what that makes of its documents. */
interface Prepared {
  readonly file: AgentFile;
  readonly planned: readonly PlannedDocument[];
  readonly version: number;
}

function answerOf({ file, planned, version }: Prepared): DeployedFile {
  const id = file.agent;
  return {
    agentId: id,
    agentVersion: version,
    mcpEnabled: file.mcp_enabled,
    documents: planned.map(({ type, version, changed }) => ({ type, id, version, changed })),
  };
}

function refuseForeign(principal: Principal, agentId: string, ownerId: string | undefined): void {
  if (ownerId === undefined || mayChangeAgent(principal, { ownerId })) return;
  throw new PlatformError(
    'forbidden',
    `agent: you may not deploy to "${agentId}"; choose another id for your agent.`,
  );
}
