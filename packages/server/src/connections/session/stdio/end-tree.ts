import type { Clock } from '../../../kernel/clock.ts';
import { listProcesses, membersOf, type ProcessTree } from './process-tree.ts';

const FIRST_LOOK_MS = 10;
const LONGEST_LOOK_MS = 200;
/** Processes that SIGKILL does not end hang in the kernel, and nothing ends them. */
const KILL_WAIT_MS = 5_000;

/**
 * Ends every process of a tree: SIGTERM, `termWaitMs` to go, then SIGKILL until none is left. Resolves with the ids of those that are
 * there all the same, which is none unless the kernel holds one.
 */
export async function endTree(
  tree: ProcessTree,
  options: { readonly clock: Clock; readonly termWaitMs: number },
): Promise<readonly number[]> {
  const { clock, termWaitMs } = options;
  let left = await survivors(tree);
  if (left.length === 0) return left;
  signal(tree, left, 'SIGTERM');
  left = await waitForEnd(tree, clock, termWaitMs);
  if (left.length === 0) return left;
  return waitForEnd(tree, clock, KILL_WAIT_MS, remaining => signal(tree, remaining, 'SIGKILL'));
}

async function waitForEnd(
  tree: ProcessTree,
  clock: Clock,
  waitMs: number,
  onLook: (left: readonly number[]) => void = () => undefined,
): Promise<readonly number[]> {
  const until = clock.now() + waitMs;
  for (let pause = FIRST_LOOK_MS; ; pause = Math.min(2 * pause, LONGEST_LOOK_MS)) {
    const left = await survivors(tree);
    if (left.length === 0 || clock.now() >= until) return left;
    onLook(left);
    await clock.sleep(Math.min(pause, Math.max(until - clock.now(), 1)));
  }
}

/** Ids of the tree's processes that run; without `/proc`, of the group as a whole. */
async function survivors(tree: ProcessTree): Promise<readonly number[]> {
  const processes = await listProcesses();
  if (processes) return [...(await membersOf(tree, processes, { byStreams: true })).keys()];
  return canSignal(-tree.leader) ? [tree.leader] : [];
}

/** The group at once, so that nothing in it escapes by forking, and whoever left it one by one. */
function signal(tree: ProcessTree, members: readonly number[], name: 'SIGTERM' | 'SIGKILL'): void {
  for (const target of [-tree.leader, ...members]) {
    try {
      process.kill(target, name);
    } catch {
      // It has ended in the meantime.
    }
  }
}

function canSignal(target: number): boolean {
  try {
    process.kill(target, 0);
    return true;
  } catch {
    return false;
  }
}
