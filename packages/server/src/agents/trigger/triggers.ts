import { mayChangeAgent, mayUseTrigger, scopeOf } from '../../kernel/access.ts';
import type { Clock } from '../../kernel/clock.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { Store } from '../../store/store.ts';
import {
  type AgentTrigger,
  countTriggers,
  deleteTrigger,
  findTrigger,
  insertTrigger,
  listIntents,
  listTriggers,
  updateTrigger,
} from '../../store/tables/agent-triggers.ts';
import { findAgent } from '../../store/tables/agents.ts';
import { agentNotFound } from '../deployment/agent-not-found.ts';
import { parseTrigger, type TriggerDocument } from './trigger-document.ts';

/** Each is looked through by `discover_agents`. */
const MAX_TRIGGERS = 1_000;

/**
 * Intents and the agents they stand for. A trigger belongs to who made it, an admin reaches all; the agents it names must be
 * there for them. Rejects with a `PlatformError`: `invalid`, `agent_not_found` for such an agent, `not_found` alike for a trigger
 * that is not there and one of somebody else, `conflict` for an intent that is taken.
 */
export interface Triggers {
  list(principal: Principal): Promise<AgentTrigger[]>;
  /** Answers the intent. */
  create(principal: Principal, raw: unknown): Promise<string>;
  /** Replaces what the intent stands for. Running conversations go on as they are. */
  update(principal: Principal, intent: string, raw: unknown): Promise<void>;
  /** The conversations that began with it stay readable. */
  delete(principal: Principal, intent: string): Promise<void>;
  /** The intents of each of these agents; none where they cannot be read now, which the log says. */
  intentsOf(agentIds: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>>;
}

/** One text for every trigger that is not there or not for this caller. */
export function triggerNotFound(intent: string): PlatformError {
  return new PlatformError(
    'not_found',
    `There is no agent trigger for the intent ${JSON.stringify(intent.slice(0, 200))}; list_agent_triggers shows yours.`,
  );
}

export function createTriggers(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger?: Logger | undefined;
}): Triggers {
  const { store, clock, logger } = deps;

  async function requireAgents(principal: Principal, { deployments }: TriggerDocument): Promise<void> {
    for (const { agentId } of deployments) {
      const agent = await findAgent(store.db, agentId);
      // What a trigger says at the beginning is said to everybody who comes by its intent: not for whom an agent is only shared with.
      if (!agent || !mayChangeAgent(principal, agent)) throw agentNotFound(agentId);
    }
  }

  async function requireTrigger(principal: Principal, intent: string): Promise<void> {
    const trigger = await findTrigger(store.db, intent);
    if (!trigger || !mayUseTrigger(principal, trigger)) throw triggerNotFound(intent);
  }

  return {
    list: principal => listTriggers(store.db, scopeOf(principal)),

    async create(principal, raw) {
      const { intent, deployments } = parseTrigger(raw);
      if (intent === undefined) {
        throw new PlatformError('invalid', 'agent trigger: field "intent" at $.intent is missing.');
      }
      await requireAgents(principal, { intent, deployments });
      await store.commit(async db => {
        if ((await countTriggers(db, principal.id)) >= MAX_TRIGGERS) {
          throw new PlatformError('conflict', `You have ${MAX_TRIGGERS} agent triggers; delete one first.`);
        }
        if (await insertTrigger(db, { intent, ownerId: principal.id, deployments }, clock.now())) return;
        throw new PlatformError(
          'conflict',
          `intent: ${JSON.stringify(intent)} is taken; choose another one.`,
        );
      });
      return intent;
    },

    async update(principal, intent, raw) {
      await requireTrigger(principal, intent);
      const changed = parseTrigger(raw);
      if (changed.intent !== undefined && changed.intent !== intent) {
        throw new PlatformError(
          'invalid',
          `agent trigger: field "intent" at $.intent is ${JSON.stringify(changed.intent)}, not ${JSON.stringify(intent)}: an intent keeps its name.`,
        );
      }
      await requireAgents(principal, changed);
      const { deployments } = changed;
      const isThere = await store.commit(db => updateTrigger(db, { intent, deployments }, clock.now()));
      if (!isThere) throw triggerNotFound(intent);
    },

    async delete(principal, intent) {
      await requireTrigger(principal, intent);
      if (!(await store.commit(db => deleteTrigger(db, intent)))) throw triggerNotFound(intent);
    },

    async intentsOf(agentIds) {
      try {
        return await listIntents(store.db, agentIds);
      } catch (error) {
        logger?.warn('Intents could not be read', { error });
        return new Map();
      }
    },
  };
}
