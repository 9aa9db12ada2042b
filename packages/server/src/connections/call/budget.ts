import { RateLimiterMemory } from 'rate-limiter-flexible';
import { formatServerRef } from '../server/definition.ts';
import { type CallStep, refuse } from './outbound-call.ts';

export interface BudgetLimits {
  /** Calls an agent's rules and model may make of one tool in a minute, on one node; 0 is no limit (EX-13). */
  readonly callsPerMinute: number;
}

/** Counts a call of a tool of an agent. A phrase where there were too many within a minute: then it is not to be made. */
export type CallRate = (call: {
  readonly agentId: string | undefined;
  /** Tells its tools from those of others. */
  readonly server: string;
  readonly tool: string;
}) => Promise<string | undefined>;

export function createCallRate({ callsPerMinute }: BudgetLimits): CallRate {
  if (callsPerMinute === 0) return async () => undefined;
  const calls = new RateLimiterMemory({ points: callsPerMinute, duration: 60 });
  return ({ agentId, server, tool }) =>
    calls.consume([agentId, server, tool].join(' ')).then(
      () => undefined,
      () => `the tool "${tool}" was called ${callsPerMinute} times within a minute`,
    );
}

/** What a model can do about it. */
export const DO_WITHOUT = 'do without it for a minute';
const WITHOUT = 'no more tools can be called in it, so answer with what is known';

/** Ensures that the conversation has money left, and that the agent does not call too often (E-104). */
export function createBudgetStep(tooOften: CallRate): CallStep {
  return {
    name: 'budget',
    async run({ call }) {
      const { budget, driver, callFor, server, tool } = call;
      if (budget && budget.spentUsd >= budget.limitUsd) {
        const spent = `the conversation has spent ${budget.spentUsd} of the ${budget.limitUsd} US dollars it may spend on calls`;
        return refuse('BUDGET_EXCEEDED', driver === 'model' ? `${spent}; ${WITHOUT}` : spent);
      }
      if (driver === 'person') return undefined;
      const { agentId } = callFor;
      const often = await tooOften({ agentId, server: formatServerRef(server.ref), tool });
      if (often === undefined) return undefined;
      const remedy = driver === 'model' ? DO_WITHOUT : 'wait, or raise PATCHBAY_CONNECTIONS_CALLS_PER_MINUTE';
      return refuse('RATE_LIMITED', `${often}; ${remedy}`);
    },
  };
}
