import { RateLimiterMemory } from 'rate-limiter-flexible';
import { formatServerRef } from '../server/definition.ts';
import { type CallStep, refuse } from './outbound-call.ts';

export interface BudgetLimits {
  /** Calls an agent's rules and model may make of one tool in a minute, on one node; 0 is no limit (EX-13). */
  readonly callsPerMinute: number;
}

const WITHOUT = 'no more tools can be called in it, so answer with what is known';

/** Ensures that the conversation has money left, and that the agent does not call too often (E-104). */
export function createBudgetStep({ callsPerMinute }: BudgetLimits): CallStep {
  const calls =
    callsPerMinute === 0 ? undefined : new RateLimiterMemory({ points: callsPerMinute, duration: 60 });
  return {
    name: 'budget',
    async run({ call }) {
      const { budget, driver, callFor, server, tool } = call;
      if (budget && budget.spentUsd >= budget.limitUsd) {
        const spent = `the conversation has spent ${budget.spentUsd} of the ${budget.limitUsd} US dollars it may spend on calls`;
        return refuse('BUDGET_EXCEEDED', driver === 'model' ? `${spent}; ${WITHOUT}` : spent);
      }
      if (driver === 'person' || !calls) return undefined;
      const key = [callFor.agentId, formatServerRef(server.ref), tool].join(' ');
      return calls.consume(key).then(
        () => undefined,
        () => {
          const often = `the tool "${tool}" was called ${callsPerMinute} times within a minute`;
          const remedy =
            driver === 'model'
              ? 'do without it for a minute'
              : 'wait, or raise PATCHBAY_CONNECTIONS_CALLS_PER_MINUTE';
          return refuse('RATE_LIMITED', `${often}; ${remedy}`);
        },
      );
    },
  };
}
