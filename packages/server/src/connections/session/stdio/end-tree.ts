import { spawn } from 'node:child_process';
import type { Clock } from '../../../kernel/clock.ts';
import { listProcesses, membersOf, type ProcessEntry, type ProcessTree } from './process-tree.ts';
import { taskkillArguments } from './windows.ts';

type Survivor = Pick<ProcessEntry, 'pid' | 'group' | 'session'>;

const IS_WINDOWS = process.platform === 'win32';
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
  // What is seen once is found again when its parent has gone.
  const sessions = new Set(tree.sessions);
  const look = async () => {
    const left = await survivors({ ...tree, sessions: [...sessions] });
    for (const { session } of left) sessions.add(session);
    return left;
  };
  let left = await look();
  if (left.length > 0) {
    signal(tree, left, 'SIGTERM');
    left = await lookUntilGone(look, clock, termWaitMs);
  }
  if (left.length > 0) {
    left = await lookUntilGone(look, clock, KILL_WAIT_MS, remaining => signal(tree, remaining, 'SIGKILL'));
  }
  return left.map(({ pid }) => pid);
}

async function lookUntilGone(
  look: () => Promise<readonly Survivor[]>,
  clock: Clock,
  waitMs: number,
  onLook: (left: readonly Survivor[]) => void = () => undefined,
): Promise<readonly Survivor[]> {
  const until = clock.now() + waitMs;
  for (let pause = FIRST_LOOK_MS; ; pause = Math.min(2 * pause, LONGEST_LOOK_MS)) {
    const left = await look();
    if (left.length === 0 || clock.now() >= until) return left;
    onLook(left);
    await clock.sleep(Math.min(pause, Math.max(until - clock.now(), 1)));
  }
}

/** The tree's processes that run; where nothing lists them, the leader stands for its group. */
async function survivors(tree: ProcessTree): Promise<readonly Survivor[]> {
  const processes = await listProcesses();
  if (processes) return [...(await membersOf(tree, processes, { byStreams: true })).values()];
  const { leader } = tree;
  const isThere = canSignal(IS_WINDOWS ? leader : -leader);
  return isThere ? [{ pid: leader, group: leader, session: leader }] : [];
}

/** The group at once, so that nothing in it escapes by forking, and whoever left it one by one. */
function signal(tree: ProcessTree, left: readonly Survivor[], name: 'SIGTERM' | 'SIGKILL'): void {
  if (IS_WINDOWS) {
    // There are no signals: a program is told to go by the end of its input alone, and ended with all it started when it does not.
    if (name === 'SIGKILL') killOnWindows(tree.leader);
    return;
  }
  const outside = left.filter(({ group }) => group !== tree.leader).map(({ pid }) => pid);
  const isGroupLeft = outside.length < left.length;
  for (const target of [...(isGroupLeft ? [-tree.leader] : []), ...outside]) {
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

function killOnWindows(leader: number): void {
  const killer = spawn('taskkill', taskkillArguments(leader), { windowsHide: true, stdio: 'ignore' });
  // Whether it worked is seen at the next look.
  killer.on('error', () => undefined);
}
