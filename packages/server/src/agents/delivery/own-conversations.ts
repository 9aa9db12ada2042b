import { isConversationId } from '@patchbay/contract/ids';
import { mayUseDelivery } from '../../kernel/access.ts';
import type { Clock } from '../../kernel/clock.ts';
import { PlatformError } from '../../kernel/errors.ts';
import { newMessageId } from '../../kernel/ids.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { Store } from '../../store/store.ts';
import { endConversation, findConversation } from '../../store/tables/conversations.ts';
import type { Delivery } from '../../store/tables/deliveries.ts';
import {
  closeMessageLog,
  findMessageLog,
  insertMessageLog,
  listConversationLogs,
  type MessageLog,
} from '../../store/tables/message-logs.ts';
import { type AgentCall, type AgentCalls, callRefused } from '../call/agent-calls.ts';
import type { Turns } from '../turn/turns.ts';
import { postDelivery } from './post-delivery.ts';

/** A conversation with a log, for whoever opened it. */
export interface OwnConversation extends MessageLog {
  /** `closed`: it takes no more messages. */
  readonly state: 'open' | 'closed';
}

interface Address {
  readonly agentId: string;
  readonly conversationId: string;
}

/**
 * Conversations that are opened with a log (BX-22 to BX-25); their id is the `context_id` of every surface (B-70). Only who
 * opened one sees it. Rejects with a `PlatformError`: `forbidden` for one that is not there or not the caller's, in the same words,
 * and `invalid` for what is no conversation or one with another agent.
 */
export interface OwnConversations {
  /** Runs the greeting, which is the first message of the log. Rejects as a turn does. */
  open(
    principal: Principal,
    request: {
      readonly agentId: string;
      readonly title?: string | undefined;
      readonly metadata?: Readonly<Record<string, unknown>> | undefined;
    },
  ): Promise<OwnConversation>;
  /** Latest first. */
  list(
    principal: Principal,
    filter: { readonly agentId: string; readonly limit: number },
  ): Promise<OwnConversation[]>;
  read(principal: Principal, address: Address): Promise<OwnConversation>;
  /** Ends it on every surface. Rejects with `conflict` while it is busy; one that is closed stays as it is. */
  close(principal: Principal, address: Address): Promise<void>;
  /** Puts a message into the queue. Rejects with `wrong_state` when the conversation is closed, and as `postDelivery` does. */
  post(call: AgentCall & { readonly contextId: string }): Promise<Delivery>;
}

/** How long a log can be read here after it was closed. */
const READABLE_MS = 5 * 60_000;
/** How long a message may wait for its turn and its answer. */
const DEADLINE_MS = 24 * 3_600_000;
const MAX_METADATA_CHARACTERS = 16_384;

export function createOwnConversations(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly calls: AgentCalls;
  readonly turns: Turns;
  readonly idempotencyHours: number;
}): OwnConversations {
  const { store, clock, calls, turns } = deps;

  async function find(principal: Principal, { agentId, conversationId }: Address): Promise<OwnConversation> {
    if (!isConversationId(conversationId)) throw notWithAgent();
    const log = await findMessageLog(store.db, conversationId);
    const isReadable = log?.closedAt === undefined || log.closedAt > clock.now() - READABLE_MS;
    if (!log || !isReadable || !mayUseDelivery(principal, log)) {
      throw new PlatformError('forbidden', 'conversation_id: you have opened no such conversation.');
    }
    if (log.agentId !== agentId) throw notWithAgent();
    return withState(log);
  }

  async function withState(log: MessageLog): Promise<OwnConversation> {
    if (log.closedAt !== undefined) return { ...log, state: 'closed' };
    const conversation = await findConversation(store.db, log.id);
    const hasEnded = conversation?.state === 'ENDED' || conversation?.state === 'EXECUTION_INTERRUPTED';
    return { ...log, state: hasEnded ? 'closed' : 'open' };
  }

  return {
    async open(principal, { agentId, title, metadata }) {
      if (metadata && JSON.stringify(metadata).length > MAX_METADATA_CHARACTERS) {
        throw new PlatformError(
          'invalid',
          `metadata: has more than ${MAX_METADATA_CHARACTERS} characters as JSON; send less.`,
        );
      }
      const log = { kind: 'conversation', agentId, ownerId: principal.id, title, metadata } as const;
      const createdAt = clock.now();
      const admission = await turns.admitTurn({
        principal,
        access: 'own',
        agentId,
        context: { mcp: 'true' },
        logged: true,
        onStarted: (db, id) => insertMessageLog(db, { id, ...log, createdAt }),
      });
      if (admission.kind === 'refused') throw callRefused(admission.refusal);
      const answer =
        admission.kind === 'replay'
          ? admission.answer
          : await admission.turn.run({ signal: new AbortController().signal });
      return find(principal, { agentId, conversationId: answer.conversationId });
    },

    async list(principal, { agentId, limit }) {
      await calls.checkAgent(principal, agentId);
      const closedAfter = clock.now() - READABLE_MS;
      const logs = await listConversationLogs(store.db, {
        ownerId: principal.id,
        agentId,
        closedAfter,
        limit,
      });
      return Promise.all(logs.map(withState));
    },

    read: find,

    async close(principal, address) {
      const { id, closedAt } = await find(principal, address);
      if (closedAt !== undefined) return;
      await store.commit(async db => {
        if (!(await endConversation(db, id, clock.now()))) {
          throw new PlatformError(
            'conflict',
            'The conversation is busy with a message; close it when that is answered.',
          );
        }
        await closeMessageLog(db, id, clock.now());
      });
    },

    async post(call) {
      const { principal, agentId, contextId } = call;
      const conversation = await find(principal, { agentId, conversationId: contextId });
      if (conversation.state === 'closed') {
        throw new PlatformError('wrong_state', 'The conversation is closed and takes no more messages.');
      }
      await calls.check(call);
      const createdAt = clock.now();
      return postDelivery(
        store,
        {
          ...{ id: newMessageId(), kind: 'message', logId: contextId, agentId, ownerId: principal.id },
          ...{ credential: principal.credential, keyScope: contextId, idempotencyKey: call.idempotencyKey },
          ...{ contextId, message: call.message, metadata: call.metadata, createdAt },
          attachments: call.attachments ?? [],
          deadlineAt: createdAt + DEADLINE_MS,
        },
        { keyLifeMs: deps.idempotencyHours * 3_600_000 },
      );
    },
  };
}

function notWithAgent(): PlatformError {
  return new PlatformError('invalid', 'conversation_id: this is no conversation with this agent.');
}
