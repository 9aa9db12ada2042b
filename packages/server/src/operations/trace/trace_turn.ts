import type { TracedStep } from '@patchbay/contract/operations/trace';
import type { Documents } from '../../agents/configuration/documents.ts';
import type { TurnTrace } from '../../agents/turn/run-turn.ts';
import type { Turns } from '../../agents/turn/turns.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { OperationHandler } from '../bind.ts';
import { answerTo, OPERATOR_CONTEXT } from '../conversation/talk.ts';

export function traceTurn(turns: Turns, documents: Documents): OperationHandler<'trace_turn'> {
  return async ({ message, ...request }, call) => {
    const { principal } = call;
    // Rules are shown: whoever may only talk to the agent is refused as for an agent that is not there.
    await documents.read(principal, { type: 'agent', id: request.agentId });
    const context = OPERATOR_CONTEXT;
    const admission = await turns.admitTurn({
      ...{ ...request, input: message, context },
      ...{ principal, access: 'own-or-admin' },
    });
    let trace: TurnTrace | undefined;
    try {
      const answer = await answerTo(admission, call, given => {
        trace = given;
      });
      return { ...answer, steps: stepsOf(trace) };
    } catch (thrown) {
      // A turn that failed is what one wants to see.
      if (!trace || !(thrown instanceof PlatformError)) throw thrown;
      return { error: thrown.message, steps: stepsOf(trace) };
    }
  };
}

/** Each rules step explains itself once, in their order. */
function stepsOf(trace: TurnTrace | undefined): TracedStep[] {
  if (!trace) return [];
  const explained = [...trace.explained];
  return trace.entries.map(({ stepIndex, taskType, durationMs, output }) => ({
    ...{ stepIndex, type: taskType, durationMs, changed: output as TracedStep['changed'] },
    ...(taskType === 'rules' && { rules: (explained.shift() ?? []) as NonNullable<TracedStep['rules']> }),
  }));
}
