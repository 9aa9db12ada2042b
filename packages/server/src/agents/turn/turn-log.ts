import type { ConversationState } from '@patchbay/contract/operations/conversation';
import { PlatformError } from '../../kernel/errors.ts';
import type { LogFields, Logger } from '../../kernel/logger.ts';
import type { ConversationStep } from '../../store/tables/conversation-steps.ts';
import type { TurnClaim } from './admit-turn.ts';

/** What every line about a turn carries, so that it is found by agent and by conversation (platform.md 1.12). */
export function turnFields(claim: TurnClaim): LogFields {
  const { agentId, agentVersion, environment, userId } = claim;
  return { conversationId: claim.lease.conversationId, agentId, agentVersion, environment, userId };
}

/** One line a turn for whoever builds the agent: which rules held and what came of it. Nothing a person said. */
export function logPlayedTurn(
  logger: Logger | undefined,
  claim: TurnClaim,
  played: { readonly steps: readonly ConversationStep[]; readonly state: ConversationState },
): void {
  if (played.state === 'AWAITING_HUMAN') logger?.info('A turn waits for a person', () => turnFields(claim));
  logger?.debug('A turn was played', () => ({
    ...turnFields(claim),
    steps: played.steps.map(({ index, data, output }) => ({
      index,
      rules: data.flatMap(({ key, value }) => (key === 'behavior_rules:success' ? value : [])),
      actions: output.actions,
    })),
    state: played.state,
  }));
}

/** A turn of which nothing is stored. That its caller took it back is nobody's fault. */
export function logLostTurn(logger: Logger | undefined, claim: TurnClaim, thrown: unknown): void {
  const cancelled = thrown instanceof PlatformError && thrown.kind === 'cancelled';
  const fields = () => ({ ...turnFields(claim), error: thrown });
  if (cancelled) logger?.info('A turn was cancelled; nothing of it is stored', fields);
  else logger?.warn('A turn ended with nothing stored', fields);
}
