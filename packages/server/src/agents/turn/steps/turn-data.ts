import { toTranscript } from '../../conversation/transcript.ts';
import type { DATA_SHAPE } from '../../language/data-path.ts';
import type { StepTools, TurnMemory } from '../../step/step.ts';

/** Where the ids of the agents stay that a condition found by what they can do. */
export const CAPABLE_AGENTS = 'capabilityMatch.results';

/** What a turn offers under the names of `DATA_SHAPE`. */
export function turnData(memory: TurnMemory, tools: StepTools): Readonly<Record<string, unknown>> {
  const { input, expressions, intents, actions, output, quickReplies, calls, mcpCalls } = memory;
  const { userId, conversationId, agentId, agentVersion, environment } = tools.conversation;
  return {
    input,
    context: memory.context,
    properties: memory.properties,
    httpCalls: calls,
    mcpCalls,
    vars: tools.vars,
    memory: {
      current: {
        ...{ input, expressions, intents, actions, output, quickReplies, httpCalls: calls, mcpCalls },
        ...{ hitlDecision: memory.decision?.verdict, hitlDecisionNote: memory.decision?.note },
        get capabilityMatch() {
          return { results: memory.remembered.findLast(({ key }) => key === CAPABLE_AGENTS)?.value };
        },
      },
      last: memory.last,
      previous: memory.last,
      past: memory.past,
    },
    get conversationLog() {
      return toTranscript(memory.past.toReversed());
    },
    userInfo: { userId },
    conversationInfo: { conversationId, agentId, agentVersion, environment },
  } satisfies Record<keyof typeof DATA_SHAPE, unknown>;
}

/** The data with one value more, or another one; what is only found out when it is asked for stays so. */
export function withValue(
  data: Readonly<Record<string, unknown>>,
  name: string,
  value: unknown,
): Readonly<Record<string, unknown>> {
  const members = Object.getOwnPropertyDescriptors(data);
  return Object.defineProperties({}, { ...members, [name]: { value, enumerable: true } });
}
