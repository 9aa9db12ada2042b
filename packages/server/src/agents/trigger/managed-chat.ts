import type { Environment } from '@patchbay/contract/environments';
import { mayTalkFor, mayUseAgent } from '../../kernel/access.ts';
import type { Clock } from '../../kernel/clock.ts';
import { Fault, PlatformError } from '../../kernel/errors.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { Db, Store } from '../../store/store.ts';
import { type AgentTrigger, findTrigger } from '../../store/tables/agent-triggers.ts';
import { findAgent } from '../../store/tables/agents.ts';
import { findConversationState } from '../../store/tables/conversations.ts';
import {
  deleteManagedConversation,
  findManagedConversation,
  type ManagedConversation,
  type ManagedKey,
  putManagedConversation,
} from '../../store/tables/managed-conversations.ts';
import type { Admission, TurnRequest } from '../turn/admit-turn.ts';
import { busy } from '../turn/refusal.ts';
import type { ClaimedTurn, Turns } from '../turn/turns.ts';
import { triggerNotFound } from './triggers.ts';

/** A message of a user, to whichever agent their intent stands for. */
export interface ManagedMessage extends ManagedKey {
  readonly input: string;
  /** Where the agent is deployed when its trigger does not say. */
  readonly environment: Environment;
}

/** The turn that is to answer, and where it takes place. */
export interface ManagedAdmission {
  readonly admission: Admission<ClaimedTurn>;
  readonly agentId: string;
  readonly environment: Environment;
}

/**
 * Finds or starts the one conversation a user has under an intent and admits the message there. The first agent of the trigger is
 * talked to; a conversation that is over, or gone, is followed by a fresh one. Rejects with `forbidden` for another user than the
 * caller, unless the caller is an admin, and with `not_found` where no trigger has the intent, or none this caller may use: in the
 * first case the user's conversation is no longer the one of the intent, and stays readable.
 */
export type AdmitManaged = (
  principal: Principal,
  message: ManagedMessage,
  request: Pick<TurnRequest, 'context'>,
) => Promise<ManagedAdmission>;

/** Somebody else was quicker with the same user and intent. */
class OtherWasQuicker extends Fault {
  constructor() {
    super('managed_chat_overtaken', 'Each time a conversation was to start, another one had.');
  }
}

/** Whoever was quicker has a conversation by then: it would have to end at once, each time. */
const MAX_TRIES = 10;

export function createManagedChat(deps: {
  readonly store: Store;
  readonly turns: Turns;
  readonly clock: Clock;
}): AdmitManaged {
  const { store, turns, clock } = deps;

  async function triggerFor(principal: Principal, key: ManagedKey): Promise<AgentTrigger> {
    const trigger = await findTrigger(store.db, key.intent);
    if (!trigger) {
      await store.commit(db => deleteManagedConversation(db, key));
      throw triggerNotFound(key.intent);
    }
    const { agentId } = trigger.deployments[0]!;
    const agent = await findAgent(store.db, agentId);
    if (!agent || !mayUseAgent(principal, 'own-or-admin', agent)) throw triggerNotFound(key.intent);
    return trigger;
  }

  /** `undefined` when the conversation is over or gone. */
  async function goOn(
    principal: Principal,
    managed: ManagedConversation,
    request: Pick<TurnRequest, 'input' | 'context'>,
  ): Promise<ManagedAdmission | undefined> {
    const { agentId, environment, conversationId } = managed;
    const state = await findConversationState(store.db, conversationId);
    if (state === undefined || state === 'ENDED') return undefined;
    const where = { agentId, environment };
    // Its greeting is under way, so nobody can read it yet.
    if (state === 'STARTING') {
      return { ...where, admission: { kind: 'refused', refusal: busy(conversationId) } };
    }
    const admission = await turns.admitTurn({
      ...request,
      principal,
      access: 'own-or-admin',
      agentId,
      conversationId,
    });
    if (admission.kind === 'refused') {
      const { refusal } = admission;
      if (refusal.reason === 'not_active' && refusal.state === 'ENDED') return undefined;
      if (refusal.reason === 'agent_unknown') throw triggerNotFound(managed.intent);
    }
    return { ...where, admission };
  }

  async function start(
    principal: Principal,
    key: ManagedKey,
    trigger: AgentTrigger,
    instead: string | undefined,
    request: Pick<TurnRequest, 'input' | 'context'> & { readonly environment: Environment },
  ): Promise<ManagedAdmission> {
    const { agentId, environment = request.environment, initialContext } = trigger.deployments[0]!;
    const onStarted = async (db: Db, conversationId: string) => {
      const managed = { ...key, environment, agentId, conversationId };
      if (!(await putManagedConversation(db, managed, { instead, at: clock.now() })))
        throw new OtherWasQuicker();
    };
    const admission = await turns.admitTurn({
      ...request,
      context: { ...initialContext, ...request.context },
      principal,
      access: 'own-or-admin',
      ownerId: key.userId,
      agentId,
      environment,
      onStarted,
    });
    return { agentId, environment, admission };
  }

  return async (principal, { input, environment, ...key }, { context }) => {
    if (!mayTalkFor(principal, key.userId)) {
      throw new PlatformError('forbidden', 'Access denied: userId must be your own.');
    }
    for (let tries = 1; ; tries += 1) {
      const trigger = await triggerFor(principal, key);
      const managed = await findManagedConversation(store.db, key);
      const going = managed && (await goOn(principal, managed, { input, context }));
      if (going) return going;
      try {
        return await start(principal, key, trigger, managed?.conversationId, { input, context, environment });
      } catch (thrown) {
        if (!(thrown instanceof OtherWasQuicker) || tries === MAX_TRIES) throw thrown;
      }
    }
  };
}
