import type { Environment } from '@patchbay/contract/environments';
import type { DocumentRef } from '@patchbay/contract/ids';
import type { ServerRef } from '../../connections/server/definition.ts';
import type { Registry } from '../../connections/server/registry.ts';
import type { Clock } from '../../kernel/clock.ts';
import { PlatformError } from '../../kernel/errors.ts';
import { newDocumentId, randomBase32 } from '../../kernel/ids.ts';
import type { Principal } from '../../kernel/principal.ts';
import { compileText } from '../../secrets/reference-text.ts';
import type { References } from '../../secrets/references.ts';
import type { Vault } from '../../secrets/vault.ts';
import type { Store } from '../../store/store.ts';
import { insertAgent } from '../../store/tables/agents.ts';
import { putDeployment } from '../../store/tables/deployments.ts';
import { createDocument } from '../../store/tables/documents.ts';
import { compileAgent } from '../deployment/compiled-agent.ts';
import type { AgentDocument } from '../document/agent.ts';
import { type ModelAgentParts, modelAgentDocuments, type NewDocument } from '../document/model-agent.ts';
import { type ChosenModel, chooseModel, type ModelChoice } from '../document/model-choice.ts';
import { registeredServerOf } from '../document/registered-server.ts';
import type { StepType } from '../step/step.ts';

/** The agent somebody wants. */
export interface SetupRequest
  extends ModelChoice,
    Omit<ModelAgentParts, keyof ModelChoice | 'agentId' | 'provider' | 'model'> {
  readonly agentName: string;
  readonly deploy: boolean;
  readonly environment: Environment;
}

export interface SetUpAgent {
  readonly agentId: string;
  readonly chosen: ChosenModel;
  /** In the order in which they were made: the agent last. */
  readonly documents: readonly DocumentRef[];
  /** `undefined` where the model has no key. */
  readonly apiKeyReference: string | undefined;
  /** What the agent refers to that is not there yet, a sentence each. */
  readonly warnings: readonly string[];
}

/**
 * Makes an agent with a language model and deploys it, all of it or nothing: documents, deployment and the key in the vault are one unit. A key that the
 * vault has already stays as it is. Rejects with a `PlatformError`: `invalid` that names what is wrong, also where the agent could not run;
 * `forbidden` for a secret of other agents; that of the vault when it cannot keep the key, which is never kept anywhere else.
 */
export type SetUp = (principal: Principal, request: SetupRequest) => Promise<SetUpAgent>;

export function createSetUp(deps: {
  readonly store: Store;
  readonly stepTypes: readonly StepType[];
  readonly clock: Clock;
  readonly references: Pick<References, 'checkDeployment'>;
  readonly vault: Pick<Vault, 'preparePut' | 'findEqual'>;
  readonly vaultKeyReuse: 'checksum' | 'never';
  readonly registry: Pick<Registry, 'find' | 'list'>;
}): SetUp {
  const { store, stepTypes, clock, references, vault, vaultKeyReuse, registry } = deps;

  function refuseUnknownServers(urls: readonly string[]): void {
    for (const [index, url] of urls.entries()) {
      const ref = registeredServerOf(url);
      if (!ref || registry.find(ref)) continue;
      const names = registry.list().servers.map(({ definition }) => nameOf(definition.ref));
      const known = names.length === 0 ? 'none is registered yet' : `registered are ${names.join(', ')}`;
      throw new PlatformError(
        'invalid',
        `mcpServerUrls, entry ${index + 1}: there is no server ${nameOf(ref)}; ${known}.`,
      );
    }
  }

  /** How the key is referred to, and what puts it into the vault where it is not there. */
  async function keyFor({ agentName, apiKey: given }: SetupRequest, principal: Principal): Promise<Key> {
    const key = given?.trim();
    if (!key) return { reference: undefined, put: undefined };
    if (isReference(key)) return { reference: key, put: undefined };
    const same = vaultKeyReuse === 'checksum' ? await vault.findEqual(key) : undefined;
    if (same !== undefined) return { reference: referenceTo(same), put: undefined };
    const name = `setup.${wordOf(agentName)}.${clock.now()}-${randomBase32(8)}.apiKey`;
    const description = `Key of the model of ${agentName}`;
    const put = await vault.preparePut({ name, value: key, description, by: principal.id });
    return { reference: referenceTo(name), put };
  }

  /** Answers with warnings. Rejects where the agent could not run. */
  async function check(
    agentId: string,
    documents: readonly NewDocument[],
    key: Key,
  ): Promise<readonly string[]> {
    const bodyOf = (ref: DocumentRef) =>
      documents.find(({ type, id }) => type === ref.type && id === ref.id)!.body;
    const body = documents.at(-1)!.body as AgentDocument;
    await compileAgent({ agentId, version: 1, body }, async ref => bodyOf(ref), stepTypes);
    // The secret that is about to be made is no finding.
    const isNew = (text: unknown) => key.put !== undefined && text === key.reference;
    const bodies = documents.map(document => without(document.body, isNew));
    return references.checkDeployment(agentId, bodies);
  }

  return async (principal, request) => {
    const { agentName, deploy, environment, provider: _, ...parts } = request;
    const chosen = chooseModel(request);
    refuseUnknownServers(request.mcpServerUrls);
    const agentId = newDocumentId('agent');
    const key = await keyFor(request, principal);
    const documents = modelAgentDocuments({ ...parts, ...chosen, agentId, apiKey: key.reference });
    const warnings = await check(agentId, documents, key);
    await store.commit(async db => {
      const at = clock.now();
      await key.put?.(db);
      await insertAgent(db, { id: agentId, ownerId: principal.id, mcpEnabled: false, createdAt: at });
      for (const { type, id, body } of documents) {
        await createDocument(db, {
          ...{ type, id, body, at },
          ...{ name: agentName, description: '', by: principal.id },
        });
      }
      if (!deploy) return;
      const deployed = { status: 'READY', deployedBy: principal.id, deployedAt: at } as const;
      await putDeployment(db, { environment, agentId, agentVersion: 1, ...deployed });
    });
    return {
      ...{ agentId, chosen, warnings },
      documents: documents.map(({ type, id, version }) => ({ type, id, version })),
      apiKeyReference: key.reference,
    };
  };
}

interface Key {
  readonly reference: string | undefined;
  readonly put: Awaited<ReturnType<Vault['preparePut']>> | undefined;
}

/** Is it one reference and nothing else? Throws a `PlatformError` of kind `invalid` for one that is malformed. */
function isReference(key: string): boolean {
  try {
    const { references, text, mark } = compileText(key, () => true);
    return references.length === 1 && text === `${mark}0\uE001`;
  } catch (thrown) {
    if (!(thrown instanceof PlatformError)) throw thrown;
    throw new PlatformError('invalid', `apiKey: ${thrown.message}`, { cause: thrown });
  }
}

function nameOf({ scope, name }: ServerRef): string {
  return scope === 'default' ? name : `${scope}/${name}`;
}

function referenceTo(name: string): string {
  return `\${vault:${name}}`;
}

/** Of a name, what the name of a secret may have. */
function wordOf(agentName: string): string {
  const word = agentName
    .normalize('NFKD')
    .replace(/[^a-zA-Z0-9_-]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60);
  return word === '' ? 'agent' : word;
}

/** The same value with the texts left out that are said to be. */
function without(value: unknown, isLeftOut: (text: unknown) => boolean): unknown {
  return JSON.parse(JSON.stringify(value, (_, member) => (isLeftOut(member) ? undefined : member)));
}
