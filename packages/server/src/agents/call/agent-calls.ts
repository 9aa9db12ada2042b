import { isConversationId } from '@patchbay/contract/ids';
import { mayUseAgent, mayUseConversation } from '../../kernel/access.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { Store } from '../../store/store.ts';
import { findAgent } from '../../store/tables/agents.ts';
import { findConversation } from '../../store/tables/conversations.ts';
import type { Files } from '../file/files.ts';
import type { Admission } from '../turn/admit-turn.ts';
import { type TurnRefusal, toRefusalError } from '../turn/refusal.ts';
import type { TurnAnswer } from '../turn/turn-answer.ts';
import type { ClaimedTurn, Turns } from '../turn/turns.ts';

/** One message for an agent, from whichever surface: the agent door, REST, or a task. */
export interface AgentCall {
  readonly principal: Principal;
  readonly agentId: string;
  readonly message: string;
  /** The conversation to go on with; without one the agent remembers nothing of earlier calls (B-71). */
  readonly contextId?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  /** Ids of uploaded files of the caller's. */
  readonly attachments?: readonly string[] | undefined;
  /** What the caller's program says about the message; the agent finds it under `context.metadata`. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** The message in the background that is delivered by this call. */
  readonly delivery?: string | undefined;
}

/** A call that was let in. */
export type AdmittedCall = Exclude<Admission<ClaimedTurn>, { readonly kind: 'refused' }>;

/**
 * Calls of agents, the same on every surface: the same arguments have the same digest, so one idempotency key runs an agent once
 * wherever it is repeated, and the reply is the same text (B-65, B-66).
 */
export interface AgentCalls {
  /**
   * Admits the turn of a call, or finds its stored answer. Rejects with a `PlatformError`: `invalid` for a message or files no
   * agent could take, `forbidden` for a `context_id` that is not the caller's with this agent, `agent_not_found`, `conflict`,
   * `wrong_state`, `unavailable`.
   */
  admit(call: AgentCall): Promise<AdmittedCall>;
  /**
   * Refuses what `admit` would certainly refuse later, for calls that are made in the background: rejects alike with `invalid`,
   * `forbidden` and `agent_not_found`.
   */
  check(call: AgentCall): Promise<void>;
  /** Rejects with `agent_not_found` for an agent that is not there or not the caller's. */
  checkAgent(principal: Principal, agentId: string): Promise<void>;
  /** As `admit`, with what refuses the turn as a value. */
  ask(call: AgentCall): Promise<Admission<ClaimedTurn>>;
}

/** What an agent answered, as every surface gives it. */
export interface AgentReply {
  /** Its bubbles, one a line. */
  readonly text: string;
  readonly contextId: string;
  readonly quickReplies: readonly string[];
}

/** Members the gateway sets itself on other platforms: nobody else's word for them reaches an agent (BX-17). */
const RESERVED_METADATA = new Set(['protocol', 'caller_owner_id', 'target_agent_id', 'delivery_principal']);
const MAX_METADATA_CHARACTERS = 16_384;

export function createAgentCalls(deps: {
  readonly turns: Turns;
  readonly files: Files;
  readonly store: Store;
  /** Told when a caller reached for a conversation that is not theirs. */
  readonly onAccessDenied: (agentId: string) => void;
}): AgentCalls {
  const { turns, files, store } = deps;
  async function ask(call: AgentCall): Promise<Admission<ClaimedTurn>> {
    refuseMalformed(call);
    const { principal, agentId, message, contextId, idempotencyKey, attachments, delivery } = call;
    return turns.admitTurn({
      principal,
      access: 'own',
      agentId,
      conversationId: contextId,
      input: message,
      context: contextOf(call.metadata),
      attachments: attachments && (await files.attachmentsOf(principal, attachments)),
      idempotencyKey,
      delivery,
    });
  }

  async function checkAgent(principal: Principal, agentId: string): Promise<void> {
    const agent = await findAgent(store.db, agentId);
    if (!agent || !mayUseAgent(principal, 'own', agent))
      throw callRefused({ reason: 'agent_unknown', agentId });
  }

  async function checkContext({ principal, agentId, contextId }: AgentCall): Promise<void> {
    if (contextId === undefined) return;
    const conversation = await findConversation(store.db, contextId);
    const isOwn = conversation && mayUseConversation(principal, 'own', conversation);
    if (isOwn && conversation.agentId === agentId) return;
    deps.onAccessDenied(agentId);
    throw callRefused({ reason: 'unknown_conversation', why: 'missing' });
  }

  return {
    ask,
    checkAgent,
    async check(call) {
      refuseMalformed(call);
      const { principal, agentId, message, contextId, idempotencyKey, attachments, metadata } = call;
      turns.check({
        ...{ principal, access: 'own', agentId, conversationId: contextId, input: message },
        ...{ idempotencyKey, context: contextOf(metadata) },
      });
      await checkAgent(principal, agentId);
      await checkContext(call);
      if (attachments) await files.attachmentsOf(principal, attachments);
    },
    async admit(call) {
      const admission = await ask(call);
      if (admission.kind !== 'refused') return admission;
      if (admission.refusal.reason === 'unknown_conversation') deps.onAccessDenied(call.agentId);
      throw callRefused(admission.refusal);
    },
  };
}

export function replyOf(answer: TurnAnswer): AgentReply {
  const said = answer.agentResponseParts ?? [answer.agentResponse];
  // A turn that waits says so where people and models read it; its answer comes in the conversation (C31).
  const texts = answer.status === 'PAUSED_FOR_APPROVAL' ? [...said, answer.message ?? ''] : said;
  return {
    text: texts.filter(part => part !== '').join('\n'),
    contextId: answer.conversationId,
    quickReplies: answer.quickReplies ?? [],
  };
}

function refuseMalformed({ contextId }: AgentCall): void {
  if (contextId === undefined || isConversationId(contextId)) return;
  throw new PlatformError('invalid', 'context_id: this is not the id of a conversation.');
}

/** The same for every surface: what an agent is told beside the message is part of the call's digest. */
function contextOf(metadata: AgentCall['metadata']): Readonly<Record<string, unknown>> {
  const kept = Object.entries(metadata ?? {}).filter(([name]) => !RESERVED_METADATA.has(name));
  if (kept.length === 0) return { mcp: 'true' };
  const value = Object.fromEntries(kept);
  if (JSON.stringify(value).length > MAX_METADATA_CHARACTERS) {
    throw new PlatformError(
      'invalid',
      `metadata: has more than ${MAX_METADATA_CHARACTERS} characters as JSON; send less.`,
    );
  }
  return { mcp: 'true', metadata: { type: 'object', value } };
}

/** The refusal as an error. Unknown and foreign conversations sound the same (decisions.md 3). */
export function callRefused(refusal: TurnRefusal): PlatformError {
  return refusal.reason === 'unknown_conversation'
    ? new PlatformError('forbidden', 'context_id: you have no such conversation with this agent.')
    : toRefusalError(refusal);
}
