import type { TurnBudget } from '../../step/step.ts';

/** Work that yields where it may pause, which it does when the budget's slice is over. */
export type Sliced<T> = Generator<void, T, void>;

/** Runs work to its end: at once when it is short, as nearly always, else with a pause at each yield. */
export function inSlices<T>(work: Sliced<T>, budget: TurnBudget): T | Promise<T> {
  const first = work.next();
  return first.done ? first.value : goOn(work, budget);
}

async function goOn<T>(work: Sliced<T>, budget: TurnBudget): Promise<T> {
  for (;;) {
    await budget.pause();
    const next = work.next();
    if (next.done) return next.value;
  }
}
