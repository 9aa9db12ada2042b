import type { Environment } from '@patchbay/contract/environments';
import type { ErrorKind } from '@patchbay/contract/errors';
import type { ConversationState } from '@patchbay/contract/operations/conversation';
import { PlatformError } from '../../kernel/errors.ts';
import { conversationForbidden, conversationNotFound } from '../conversation/conversation-errors.ts';
import { agentNotFound } from '../deployment/agent-not-found.ts';
import type { WaitsFor } from '../pause/tool-calls.ts';

/** Why a turn was not admitted. Nothing was changed. */
export type TurnRefusal =
  | { readonly reason: 'busy'; readonly conversationId: string; readonly message: string }
  | {
      readonly reason: 'not_active';
      readonly conversationId: string;
      readonly state: ConversationState;
      readonly message: string;
    }
  | {
      readonly reason: 'paused';
      readonly conversationId: string;
      readonly agentId: string;
      readonly message: string;
      /** What it waits for. */
      readonly waitsFor: WaitsFor;
    }
  /** `why` is for us: a caller who may not know is told one thing for all three. */
  | { readonly reason: 'unknown_conversation'; readonly why: 'missing' | 'foreign' | 'other_agent' }
  /** Not there, or not for this caller. */
  | { readonly reason: 'agent_unknown'; readonly agentId: string }
  | {
      readonly reason: 'agent_unavailable';
      readonly agentId: string;
      readonly why: 'not_deployed' | 'error';
      readonly environment: Environment;
    }
  /** The node is about to stop. */
  | { readonly reason: 'stopping' }
  | { readonly reason: 'key_in_flight' }
  | { readonly reason: 'key_other_arguments' }
  /** The first call with it failed after it had acted: that error is its answer. */
  | { readonly reason: 'key_failed'; readonly kind: ErrorKind; readonly message: string };

export function busy(conversationId: string): TurnRefusal {
  return {
    reason: 'busy',
    conversationId,
    message:
      'The conversation is busy with another message. This message was not processed; send it again when the other one is answered.',
  };
}

export function notActive(conversationId: string, state: ConversationState): TurnRefusal {
  return {
    reason: 'not_active',
    conversationId,
    state,
    message: `The conversation is ${state} and takes no more messages. This message was not processed; start a new conversation.`,
  };
}

export function paused(conversationId: string, agentId: string, waitsFor: WaitsFor): TurnRefusal {
  const { tools } = waitsFor;
  const what = tools ? ` of ${tools.join(', ')}` : '';
  return {
    ...{ reason: 'paused', conversationId, agentId, waitsFor },
    message: `The conversation waits for an approval${what}. This message was not processed; send it again when the approval is decided.`,
  };
}

/** The refusal as an error, for callers to whom it is one. */
export function toRefusalError(refusal: TurnRefusal): PlatformError {
  switch (refusal.reason) {
    case 'busy':
      return new PlatformError('conflict', refusal.message);
    case 'not_active':
      return new PlatformError('wrong_state', refusal.message);
    case 'paused':
      return new PlatformError('wrong_state', refusal.message);
    case 'unknown_conversation':
      return refusal.why === 'foreign' ? conversationForbidden() : conversationNotFound();
    case 'agent_unknown':
      return agentNotFound(refusal.agentId);
    case 'agent_unavailable':
      return new PlatformError(
        'unavailable',
        refusal.why === 'not_deployed'
          ? `Agent "${refusal.agentId}" is not deployed in ${refusal.environment}; deploy it there first.`
          : `Agent "${refusal.agentId}" cannot run as it is deployed in ${refusal.environment}; deploy it again.`,
      );
    case 'stopping':
      return new PlatformError(
        'unavailable',
        'Patchbay is stopping. This message was not processed; send it again in a moment.',
      );
    case 'key_in_flight':
      return new PlatformError(
        'conflict',
        'duplicate idempotency key: the first call with it is still running; repeat this one later.',
      );
    case 'key_failed':
      return new PlatformError(refusal.kind, refusal.message);
    case 'key_other_arguments':
      return new PlatformError(
        'conflict',
        'duplicate idempotency key: it was used with other arguments; use a new key for another message.',
      );
  }
}
