import type {
  ConversationOutput,
  ConversationSnapshot,
  ConversationState,
} from '@patchbay/contract/operations/conversation';
import { mayUseConversation, scopeOf } from '../../kernel/access.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { Store } from '../../store/store.ts';
import { listConversationOutputs, listConversationSteps } from '../../store/tables/conversation-steps.ts';
import {
  type ConversationRecord,
  type DescribedConversation,
  findConversation,
  listConversations,
} from '../../store/tables/conversations.ts';
import { findOpenPause, type Pause } from '../../store/tables/pauses.ts';
import { conversationForbidden, conversationNotFound } from './conversation-errors.ts';
import { parseReturningFields, shownState, toSnapshot } from './snapshot.ts';
import { toTranscript } from './transcript.ts';

/** What conversations hold, for their owners and admins. Rejects with `not_found` and `forbidden`, in the same words everywhere. */
export interface Conversations {
  /** The conversation itself, for what is told about it elsewhere. */
  find(principal: Principal, conversationId: string): Promise<ConversationRecord>;
  read(
    principal: Principal,
    request: {
      readonly conversationId: string;
      readonly currentStepOnly: boolean;
      readonly returnDetailed: boolean;
      readonly returningFields?: string | undefined;
    },
  ): Promise<ConversationSnapshot>;
  /** The latest step for somebody whose right was looked at, without what agents keep for themselves. */
  show(conversation: ConversationRecord): Promise<ConversationSnapshot>;
  /** A plain text transcript, of the last `logSize` turns or of all. */
  readLog(
    principal: Principal,
    request: { readonly conversationId: string; readonly logSize?: number | undefined },
  ): Promise<string>;
  /** Latest first: the own ones, for an admin everybody's. `conversationState` is meant as readers are shown it. */
  list(
    principal: Principal,
    request: {
      readonly agentId: string;
      readonly agentVersion?: number | undefined;
      readonly conversationState?: ConversationState | undefined;
      readonly limit: number;
    },
  ): Promise<DescribedConversation[]>;
}

/** Over, and not by what was said last: nobody takes that back. */
export function isEndedFromOutside(state: ConversationState, last: ConversationOutput | undefined): boolean {
  return state === 'ENDED' && !last?.actions?.includes('CONVERSATION_END');
}

/** A turn of it can be taken back. */
const AT_REST: ReadonlySet<ConversationState> = new Set(['READY', 'ERROR', 'ENDED']);

export function createConversations(deps: {
  readonly store: Store;
  /** Why one waits, for whoever reads it. */
  readonly reasonOf: (pause: Pause) => string;
}): Conversations {
  const { store, reasonOf } = deps;

  async function find(principal: Principal, conversationId: string): Promise<ConversationRecord> {
    const conversation = await findConversation(store.db, conversationId);
    if (!conversation) throw conversationNotFound();
    if (!mayUseConversation(principal, 'own-or-admin', conversation)) throw conversationForbidden();
    return conversation;
  }

  /** What can be done with the conversation besides talking. */
  async function situationOf(
    conversation: ConversationRecord,
    last: ConversationOutput | undefined,
  ): Promise<Partial<ConversationSnapshot>> {
    const isAtRest =
      !conversation.leased &&
      AT_REST.has(conversation.state) &&
      !isEndedFromOutside(conversation.state, last);
    const pause =
      conversation.state === 'AWAITING_HUMAN' ? await findOpenPause(store.db, conversation.id) : undefined;
    return {
      undoAvailable: isAtRest && conversation.stepCount > 1,
      redoAvailable: isAtRest && conversation.undoneSteps > 0,
      ...(pause && {
        hitlPausedAt: pause.openedAt,
        hitlPauseType: pause.kind,
        hitlPauseReason: reasonOf(pause),
        hitlTimeoutPolicy: pause.timeoutPolicy,
        hitlApprovalTimeout: pause.approvalTimeout,
      }),
    };
  }

  return {
    find,

    async read(principal, { conversationId, currentStepOnly, returnDetailed, returningFields }) {
      const conversation = await find(principal, conversationId);
      const steps = await listConversationSteps(store.db, conversationId, {
        last: currentStepOnly ? 1 : undefined,
      });
      const fields = parseReturningFields(returningFields);
      return {
        ...toSnapshot(conversation, shownState(conversation), steps, { detailed: returnDetailed, fields }),
        ...(await situationOf(conversation, steps.at(-1)?.output)),
      };
    },

    async show(conversation) {
      const steps = await listConversationSteps(store.db, conversation.id, { last: 1 });
      return {
        ...toSnapshot(conversation, shownState(conversation), steps, { detailed: false }),
        ...(await situationOf(conversation, steps.at(-1)?.output)),
      };
    },

    async readLog(principal, { conversationId, logSize }) {
      await find(principal, conversationId);
      const outputs = await listConversationOutputs(store.db, conversationId, { last: logSize });
      return toTranscript(outputs);
    },

    list: (principal, { agentId, agentVersion, conversationState, limit }) =>
      listConversations(store.db, {
        agentId,
        scope: scopeOf(principal),
        agentVersion,
        state: conversationState,
        limit,
      }),
  };
}
