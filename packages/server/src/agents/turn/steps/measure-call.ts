import type { CallRecord } from '../../../connections/call/outcome.ts';
import type { TurnMemory } from '../../step/step.ts';

/** What a call cost stays on its step under `key`, and what all of them cost on the conversation (W-104). */
export function measureCall(memory: TurnMemory, key: string, record: CallRecord): void {
  memory.remember(key, record);
  spend(memory, record.costUsd);
}

/** Counts US dollars that the conversation has spent, as far as they are known: a number also where servers say that they used more than there is. */
export function spend({ counters }: TurnMemory, usd: CallRecord['costUsd']): void {
  if (typeof usd === 'number') counters.spentUsd = Math.min((counters.spentUsd ?? 0) + usd, Number.MAX_VALUE);
}
