import type { CallRecord } from '../../connections/call/outcome.ts';
import type { Audit } from '../../records/audit/audit.ts';
import type { Db } from '../../store/store.ts';
import { findConversation } from '../../store/tables/conversations.ts';
import { type JournaledEffect, listEffects } from '../../store/tables/effects.ts';
import type { Decision, Pause, PauseState } from '../../store/tables/pauses.ts';
import { serversIn } from './sign-in.ts';
import { callsIn, type ToolCallsAnswer } from './tool-calls.ts';

const CANCELLED = 'CANCELLED';

/** Every decision leaves an entry in the audit trail of its conversation, in the unit that makes it (platform.md 5.6). */
export async function noteDecision(
  db: Db,
  audit: Pick<Audit, 'append'>,
  pause: Pause,
  state: PauseState,
  decision: Decision,
): Promise<void> {
  const { verdict, note, decidedBy, decidedAt } = decision;
  const { conversationId, agentId, userId } = pause;
  const { agentVersion, environment, stepCount } = (await findConversation(db, conversationId))!;
  await audit.append(db, { conversationId, agentId, agentVersion, userId, environment }, [
    {
      stepIndex: stepCount - 1,
      taskIndex: -1,
      ...{ taskId: taskOf(pause), taskType: taskOf(pause) },
      durationMs: Math.max(0, decidedAt - pause.openedAt),
      input: undefined,
      output: {
        pauseId: pause.id,
        verdict: verdict ?? CANCELLED,
        decidedBy,
        automated: state === 'expired',
        ...(note !== undefined && { note }),
        ...callsOf(pause, decision),
        ...(pause.kind === 'SIGN_IN' && { servers: serversIn(pause).map(({ server }) => server) }),
        ...(verdict === undefined && pause.kind !== 'RULE' && madeOf(await listEffects(db, conversationId))),
      },
      actions: [],
      createdAt: decidedAt,
    },
  ]);
}

function taskOf({ kind }: Pause): string {
  return kind === 'SIGN_IN' ? 'hitl.sign_in' : 'hitl.approval';
}

/** What was decided about each call, without what it is called with. */
function callsOf(pause: Pause, { verdict, note, answer }: Decision): object {
  const { toolDecisions = {} } = (answer ?? {}) as ToolCallsAnswer;
  const calls = callsIn(pause).map(({ callId, toolName, server }) => {
    const own = toolDecisions[callId] ?? { verdict, note };
    return {
      ...{ callId, toolName, server, verdict: own.verdict ?? CANCELLED },
      ...(own.note !== undefined && { note: own.note }),
      ...('amendedArguments' in own && own.amendedArguments && { amended: true }),
    };
  });
  return calls.length > 0 ? { calls } : {};
}

/** What a step had done by then that does not come to its end, so that no entry of its own says it. */
export function madeOf(effects: readonly JournaledEffect[]): { readonly made?: readonly MadeBefore[] } {
  const made = effects.flatMap(({ what, outcome }): MadeBefore[] => {
    if (what === '') return [];
    const { record } = (outcome?.value ?? {}) as { readonly record?: CallRecord };
    if (record?.outcome === 'needs_approval' || record?.outcome === 'needs_sign_in') return [];
    return [{ what, ...(outcome ? record && { record } : { outcome: 'OUTCOME_UNKNOWN' }) }];
  });
  return made.length > 0 ? { made } : {};
}

interface MadeBefore {
  readonly what: string;
  readonly record?: CallRecord;
  readonly outcome?: 'OUTCOME_UNKNOWN';
}
