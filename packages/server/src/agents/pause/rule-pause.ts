import { newPauseId } from '../../kernel/ids.ts';
import type { NewPause } from '../../store/tables/pauses.ts';
import type { HitlConfig } from '../approval/hitl-config.ts';

const DEFAULT_REASON = 'The agent asks for approval before it goes on.';

/** The pause that a rule asks for (platform.md 5.1): what the agent's configuration says about it, frozen. */
export function newRulePause(turn: {
  readonly conversationId: string;
  readonly agentId: string;
  readonly userId: string;
  readonly config: HitlConfig | undefined;
  readonly at: number;
}): NewPause {
  const { conversationId, agentId, userId, config, at } = turn;
  return {
    id: newPauseId(),
    kind: 'RULE',
    conversationId,
    agentId,
    userId,
    reason: config?.pauseReason ?? DEFAULT_REASON,
    timeoutPolicy: config?.timeoutPolicy ?? 'WAIT_INDEFINITELY',
    approvalTimeout: config?.approvalTimeout ?? '',
    openedAt: at,
    request: undefined,
  };
}
