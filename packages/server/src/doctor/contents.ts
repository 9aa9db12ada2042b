import { ENVIRONMENTS, type Environment } from '@patchbay/contract/environments';
import { type DocumentRef, formatDocumentUri } from '@patchbay/contract/ids';
import type { KeyScope } from '@patchbay/contract/operations/keys';
import { compileAgent } from '../agents/deployment/compiled-agent.ts';
import { agentDocument } from '../agents/document/agent.ts';
import { parseStored } from '../agents/document/parse-document.ts';
import { STEP_TYPES } from '../agents/turn/steps.ts';
import { Fault, PlatformError } from '../kernel/errors.ts';
import { redactText } from '../kernel/redact.ts';
import type { Db } from '../store/store.ts';
import { findAgent } from '../store/tables/agents.ts';
import { listDataKeys } from '../store/tables/data-keys.ts';
import { listDeployments } from '../store/tables/deployments.ts';
import { readDocument } from '../store/tables/documents.ts';
import { listActiveKeys } from '../store/tables/keys.ts';
import { findFirstUser } from '../store/tables/users.ts';

/** What people have put into a platform. */
export interface Contents {
  /** The versions a new conversation would get. */
  readonly agents: readonly AgentState[];
  /** The owner's, while they open something. */
  readonly keys: readonly KeyState[];
  /** Ids of the vault keys that open the stored secrets. `undefined` where it is not told. */
  readonly vaultKeyIds?: readonly string[] | undefined;
}

export interface AgentState {
  readonly agentId: string;
  readonly environment: Environment;
  readonly version: number;
  /** `undefined` where it is not told. */
  readonly mcpEnabled?: boolean | undefined;
  /** Why this program cannot run it; `undefined` when it can. */
  readonly broken: string | undefined;
}

export interface KeyState {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly KeyScope[];
  readonly agentId?: string | undefined;
  /** Epoch ms. */
  readonly expiresOn?: number | undefined;
}

export async function readContents(db: Db, now: number): Promise<Contents> {
  const owner = await findFirstUser(db);
  const keys = owner ? await listActiveKeys(db, { userId: owner.id, now }) : [];
  const agents: AgentState[] = [];
  for (const environment of ENVIRONMENTS) {
    const deployed = await listDeployments(db, { environment, scope: { kind: 'all' } });
    const latest = deployed.filter(({ agentId }, at) => agentId !== deployed[at - 1]?.agentId);
    for (const { agentId, agentVersion: version } of latest) {
      const agent = await findAgent(db, agentId);
      const broken = await whyBroken(db, agentId, version);
      agents.push({ agentId, environment, version, mcpEnabled: agent?.mcpEnabled, broken });
    }
  }
  const dataKeys = await listDataKeys(db);
  return {
    agents,
    vaultKeyIds: [...new Set(dataKeys.map(({ vaultKeyId }) => vaultKeyId))],
    keys: keys.map(({ id, name, scopes, agentId, expiresAt }) => {
      return { id, name, scopes, agentId, expiresOn: expiresAt };
    }),
  };
}

/** Compiles a version as a node does before its first turn. */
async function whyBroken(db: Db, agentId: string, version: number): Promise<string | undefined> {
  const load = async (ref: DocumentRef): Promise<unknown> => {
    const document = await readDocument(db, ref.type, ref.id, ref.version);
    if (document) return document.body;
    throw new PlatformError('not_found', `${formatDocumentUri(ref)} is not there.`);
  };
  try {
    const body = parseStored(agentDocument, await load({ type: 'agent', id: agentId, version }));
    await compileAgent({ agentId, version, body }, load, STEP_TYPES);
    return undefined;
  } catch (thrown) {
    const isTheAgent =
      thrown instanceof PlatformError || thrown instanceof Fault || thrown instanceof SyntaxError;
    if (isTheAgent) return redactText(thrown.message);
    throw thrown;
  }
}
