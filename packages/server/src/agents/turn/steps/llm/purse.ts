import type { OutboundCall } from '../../../../connections/call/outbound-call.ts';
import type { CallRecord } from '../../../../connections/call/outcome.ts';
import { createQueue } from '../../../../kernel/queue.ts';
import type { LlmTask } from '../../../document/llm.ts';
import type { StepTools, TurnMemory } from '../../../step/step.ts';
import type { ListedTool, Made } from './callable-tool.ts';

/** What the conversation may spend in a turn of a task, and has spent. */
export interface Purse {
  /** `undefined` without a limit. What calls of this moment have cost already counts. */
  budget(): OutboundCall['budget'];
  /** Is nothing left? */
  readonly isEmpty: boolean;
  /** The record with the price that the task gives, where nobody else knows one. */
  priced(tool: ListedTool, record: CallRecord): CallRecord;
  /**
   * Makes a call. Those that may cost something are made one after the other where there is a limit, so that no two of them pass on the same
   * money (attack 54). `isPriced`: whoever makes it knows a cost.
   */
  pay(tool: ListedTool, isPriced: boolean, make: () => Promise<Made>): Promise<Made>;
}

/** What a model is told of calls behind the one that crossed the limit. */
export const OVERSPENT = 'the conversation has spent what it may; answer with what is known';

export function createPurse(
  task: Pick<LlmTask, 'maxBudgetPerConversation' | 'enforceBudget' | 'toolPricing'>,
  { counters }: Pick<TurnMemory, 'counters'>,
  { callBudgetUsd }: Pick<StepTools, 'callBudgetUsd'>,
): Purse {
  const { maxBudgetPerConversation, enforceBudget, toolPricing } = task;
  const limitUsd = least(callBudgetUsd, enforceBudget ? maxBudgetPerConversation : undefined);
  const inTurn = createQueue(1);
  /** Of calls that are made and not counted yet: `counted` is what the counter said when they were. */
  let uncounted = 0;
  let counted = counters.spentUsd ?? 0;

  function spent(): number {
    const { spentUsd = 0 } = counters;
    uncounted = Math.max(0, uncounted - (spentUsd - counted));
    counted = spentUsd;
    return spentUsd + uncounted;
  }

  function priceOf({ name, tool }: ListedTool): number | undefined {
    const known = [name, tool].find(one => Object.hasOwn(toolPricing, one));
    return known === undefined ? undefined : toolPricing[known];
  }

  function priced(tool: ListedTool, record: CallRecord): CallRecord {
    if (record.costUsd !== undefined || record.reached === 'no') return record;
    const own = priceOf(tool);
    return own === undefined ? record : { ...record, costUsd: own };
  }

  return {
    priced,
    budget: () => (limitUsd === undefined ? undefined : { limitUsd, spentUsd: spent() }),
    get isEmpty() {
      return limitUsd !== undefined && spent() >= limitUsd;
    },
    async pay(tool, isPriced, make) {
      const pay = async () => {
        const came = await make();
        const made = { ...came, record: priced(tool, came.record) };
        spent();
        if (typeof made.record.costUsd === 'number') uncounted += made.record.costUsd;
        return made;
      };
      const hasPrice = isPriced || priceOf(tool) !== undefined;
      return hasPrice && limitUsd !== undefined ? inTurn(pay) : pay();
    },
  };
}

function least(...limits: readonly (number | undefined)[]): number | undefined {
  const set = limits.filter(limit => limit !== undefined);
  return set.length === 0 ? undefined : Math.min(...set);
}
