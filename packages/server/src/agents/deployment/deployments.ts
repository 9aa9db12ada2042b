import { type DocumentRef, formatDocumentUri } from '@patchbay/contract/ids';
import type { Clock } from '../../kernel/clock.ts';
import { Fault, PlatformError } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Store } from '../../store/store.ts';
import { type DeploymentStatus, noteDeploymentStatus } from '../../store/tables/deployments.ts';
import { readDocument } from '../../store/tables/documents.ts';
import { agentDocument } from '../document/agent.ts';
import { parseStored } from '../document/parse-document.ts';
import type { StepType } from '../step/step.ts';
import { type CompiledAgent, compileAgent } from './compiled-agent.ts';

/** Agents kept; the one used least lately makes room. */
const MAX_KEPT = 1_000;

/** How long a version that does not compile is not tried again. */
const RETRY_AFTER_MS = 10_000;

/**
 * Versions of agents, ready to run. Every node decides for itself, when it needs a version, whether this program can
 * compile it. The status that is stored only informs the lists: the node whose verdict changed last has noted it.
 */
export interface Deployments {
  /** `undefined` when it does not compile; the log says why. */
  compiled(agentId: string, version: number): Promise<CompiledAgent | undefined>;
  /** True for some seconds after it did not compile, so that a broken agent costs its callers and us next to nothing. */
  isBroken(agentId: string, version: number): boolean;
}

/** A version as it was found by compiling it, or is about to be. */
interface Attempt {
  readonly agent: Promise<CompiledAgent | undefined>;
  /** Epoch ms; set when it did not compile. */
  retryAt: number | undefined;
}

export function createDeployments(deps: {
  readonly store: Store;
  readonly stepTypes: readonly StepType[];
  readonly clock: Clock;
  readonly logger?: Logger | undefined;
}): Deployments {
  const { store, stepTypes, clock, logger } = deps;
  /** By `id@version`. What is being compiled is here too, so that many first turns at once compile once. */
  const attempts = new Map<string, Attempt>();

  async function load(ref: DocumentRef): Promise<unknown> {
    const document = await readDocument(store.db, ref.type, ref.id, ref.version);
    if (document) return document.body;
    throw new PlatformError('not_found', `${formatDocumentUri(ref)} is not there.`);
  }

  async function compile(
    agentId: string,
    version: number,
    brokenBefore: boolean,
  ): Promise<CompiledAgent | undefined> {
    try {
      const body = parseStored(agentDocument, await load({ type: 'agent', id: agentId, version }));
      const agent = await compileAgent({ agentId, version, body }, load, stepTypes);
      await note(agentId, version, 'READY');
      return agent;
    } catch (thrown) {
      // A database that does not answer says nothing about the agent.
      if (!(thrown instanceof PlatformError || thrown instanceof Fault)) throw thrown;
      if (!brokenBefore) {
        logger?.error('A deployed agent cannot be compiled', {
          agentId,
          agentVersion: version,
          error: thrown,
        });
        await note(agentId, version, 'ERROR');
      }
      return undefined;
    }
  }

  async function note(agentId: string, version: number, status: DeploymentStatus): Promise<void> {
    await store
      .commit(db => noteDeploymentStatus(db, { agentId, agentVersion: version }, status))
      .catch(error =>
        logger?.warn('The status of an agent could not be noted', { agentId, agentVersion: version, error }),
      );
  }

  function attempt(agentId: string, version: number, brokenBefore: boolean): Attempt {
    const made: Attempt = { agent: compile(agentId, version, brokenBefore), retryAt: undefined };
    made.agent.then(
      agent => {
        if (!agent) made.retryAt = clock.now() + RETRY_AFTER_MS;
      },
      () => attempts.delete(keyOf(agentId, version)),
    );
    return made;
  }

  store.subscribe(event => {
    // What was made of it is no longer what its references say, and nobody notes which agents name it.
    if (event.kind === 'document-removed' || event.kind === 'resync') attempts.clear();
    if (event.kind !== 'agent-deployed') return;
    // Somebody has mended what it names, here or on another node.
    const key = keyOf(event.agentId, event.agentVersion);
    if (attempts.get(key)?.retryAt !== undefined) attempts.delete(key);
  });

  return {
    compiled(agentId, version) {
      const key = keyOf(agentId, version);
      const last = attempts.get(key);
      const due = last?.retryAt !== undefined && last.retryAt <= clock.now();
      const current = last && !due ? last : attempt(agentId, version, due);
      attempts.delete(key);
      if (attempts.size >= MAX_KEPT) attempts.delete(attempts.keys().next().value!);
      attempts.set(key, current);
      return current.agent;
    },

    isBroken(agentId, version) {
      const retryAt = attempts.get(keyOf(agentId, version))?.retryAt;
      return retryAt !== undefined && retryAt > clock.now();
    },
  };
}

/** No agent id has an `@` in it. */
function keyOf(agentId: string, version: number): string {
  return `${agentId}@${version}`;
}
