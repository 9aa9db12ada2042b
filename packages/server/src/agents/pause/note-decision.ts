import type { Audit } from '../../records/audit/audit.ts';
import type { Db } from '../../store/store.ts';
import { findConversation } from '../../store/tables/conversations.ts';
import type { Decision, Pause, PauseState } from '../../store/tables/pauses.ts';

const CANCELLED = 'CANCELLED';

/** Every decision leaves an entry in the audit trail of its conversation, in the unit that makes it (platform.md 5.6). */
export async function noteDecision(
  db: Db,
  audit: Pick<Audit, 'append'>,
  pause: Pause,
  state: PauseState,
  { verdict, note, decidedBy, decidedAt }: Decision,
): Promise<void> {
  const { conversationId, agentId, userId } = pause;
  const { agentVersion, environment, stepCount } = (await findConversation(db, conversationId))!;
  await audit.append(db, { conversationId, agentId, agentVersion, userId, environment }, [
    {
      stepIndex: stepCount - 1,
      taskIndex: -1,
      taskId: 'hitl.approval',
      taskType: 'hitl.approval',
      durationMs: Math.max(0, decidedAt - pause.openedAt),
      input: undefined,
      output: {
        pauseId: pause.id,
        verdict: verdict ?? CANCELLED,
        decidedBy,
        automated: state === 'expired',
        ...(note !== undefined && { note }),
      },
      actions: [],
      createdAt: decidedAt,
    },
  ]);
}
