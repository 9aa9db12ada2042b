/**
 * A process of its own, which the platform starts with its first program: it hears over its stdin which process trees there are, and
 * ends them when that pipe closes, which the kernel does however the platform dies (attack 59). Ended in order, the platform has
 * taken every tree off the list before.
 */
import { createInterface } from 'node:readline';
import { systemClock } from '../../../kernel/clock.ts';
import { endTree } from './end-tree.ts';
import type { ProcessTree } from './process-tree.ts';

/** What the platform says, one a line. A tree told again replaces what was told of it. */
export type WatchdogOrder = { readonly watch: ProcessTree } | { readonly forget: number };

/** Programs see the end of their stdin at the same moment, and most go by themselves. */
const LEAVE_MS = 500;
const TERM_WAIT_MS = 1_000;

const trees = new Map<number, ProcessTree>();

// A terminal's Ctrl-C and the stop of a service reach every process; this one goes when the platform has gone.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line) as WatchdogOrder;
  if ('watch' in order) trees.set(order.watch.leader, order.watch);
  else trees.delete(order.forget);
}
if (trees.size > 0) await systemClock.sleep(LEAVE_MS);
const ending = { clock: systemClock, termWaitMs: TERM_WAIT_MS };
await Promise.all([...trees.values()].map(tree => endTree(tree, ending)));
process.exit();
