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
  const conversation = (await findConversation(db, pause.conversationId))!;
  await audit.append(db, pause.conversationId, [
    {
      id: `audit_${pause.id}`,
      conversationId: pause.conversationId,
      agentId: pause.agentId,
      agentVersion: conversation.agentVersion,
      userId: pause.userId,
      environment: conversation.environment,
      stepIndex: conversation.stepCount - 1,
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
