import { readFileSync, readlinkSync } from 'node:fs';
import { readdir, readFile, readlink } from 'node:fs/promises';

/**
 * The processes that came from one program. It runs in a process group and a session of its own; on Linux, processes that left both are
 * looked for as well (`membersOf`). Plain data, so that the watchdog can be told of it.
 */
export interface ProcessTree {
  /** The program itself: its process id is that of its group and session, too. */
  readonly leader: number;
  /** Clock ticks since the machine's start at which the leader began; 0 where nothing says it. */
  readonly startedAt: number;
  /** Where its stdin, stdout and stderr lead: whatever holds one of these ends came from it. */
  readonly sockets: readonly string[];
  /** Sessions that processes of this tree have begun, as far as they were seen. */
  readonly sessions: readonly number[];
}

/** A running process, from `/proc`. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  readonly startedAt: number;
  /** Where its stdin, stdout and stderr lead; read when first asked for. */
  readonly streams: () => Promise<readonly string[]>;
}

/** Describes the tree of a program that was just started. */
export function treeOf(leader: number): ProcessTree {
  const alone = { leader, startedAt: 0, sockets: [], sessions: [leader] };
  try {
    const startedAt = parseStat(readFileSync(`/proc/${leader}/stat`, 'latin1'))?.startedAt ?? 0;
    const sockets = [0, 1, 2].map(fd => readlinkSync(`/proc/${leader}/fd/${fd}`));
    return { ...alone, startedAt, sockets };
  } catch {
    // No /proc here, or it has ended already.
    return alone;
  }
}

/**
 * Every process of this machine that has not ended, or `undefined` where there is no `/proc`. Whoever asks while a look is under way gets
 * the next one: it sees all that was there when they asked, and many trees that end at once cost few looks.
 */
export function listProcesses(): Promise<readonly ProcessEntry[] | undefined> {
  if (!current) {
    current = readProcesses().finally(() => {
      current = undefined;
    });
    return current;
  }
  next ??= current.then(
    () => startNext(),
    () => startNext(),
  );
  return next;
}

let current: Promise<readonly ProcessEntry[] | undefined> | undefined;
let next: Promise<readonly ProcessEntry[] | undefined> | undefined;

function startNext(): Promise<readonly ProcessEntry[] | undefined> {
  next = undefined;
  return listProcesses();
}

async function readProcesses(): Promise<readonly ProcessEntry[] | undefined> {
  const names = await readdir('/proc').catch(() => undefined);
  if (!names?.includes('self')) return undefined;
  const entries: ProcessEntry[] = [];
  for (const name of names) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, 'latin1').catch(() => undefined);
    const entry = stat === undefined ? undefined : parseStat(stat);
    if (entry) entries.push(entry);
  }
  return entries;
}

/** The name of a program, in brackets, may hold brackets and spaces. A zombie is nobody. */
function parseStat(stat: string): ProcessEntry | undefined {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
  const pid = Number.parseInt(stat, 10);
  const [parent, group, session] = fields.slice(1, 4).map(Number);
  let streams: Promise<readonly string[]> | undefined;
  return {
    pid,
    parent: parent!,
    group: group!,
    session: session!,
    startedAt: Number(fields[19]),
    streams: () => (streams ??= readStreams(pid)),
  };
}

function readStreams(pid: number): Promise<readonly string[]> {
  return Promise.all([0, 1, 2].map(fd => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')));
}

/**
 * Those of the processes that came from the program: in its group, in a session that began within the tree, or children of such a one; with
 * `byStreams`, also those that hold the program's stdin, stdout or stderr. What is not found is a daemon that detached itself before anybody looked:
 * with a session of its own, a parent that has ended, and none of the three open.
 */
export async function membersOf(
  tree: ProcessTree,
  processes: readonly ProcessEntry[],
  options: { readonly byStreams: boolean },
): Promise<ReadonlyMap<number, ProcessEntry>> {
  const members = new Map<number, ProcessEntry>();
  const sessions = new Set(tree.sessions);
  const add = (entry: ProcessEntry) => {
    members.set(entry.pid, entry);
    sessions.add(entry.session);
  };
  let others = processes.filter(
    ({ pid, startedAt }) => pid > 1 && pid !== process.pid && startedAt >= tree.startedAt,
  );
  const addRelatives = () => {
    for (let before = -1; before !== members.size; ) {
      before = members.size;
      others = others.filter(entry => {
        const belongs = sessions.has(entry.session) || members.has(entry.parent);
        if (belongs) add(entry);
        return !belongs;
      });
    }
  };
  addRelatives();
  if (!options.byStreams || tree.sockets.length === 0) return members;
  for (const entry of others) {
    const streams = await entry.streams();
    if (streams.some(stream => tree.sockets.includes(stream))) add(entry);
  }
  addRelatives();
  return members;
}

/** Bytes of memory the processes have in use; what they share counts for each. */
export async function treeMemory(pids: Iterable<number>): Promise<number> {
  let bytes = 0;
  for (const pid of pids) {
    const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '');
    bytes += Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
  }
  return bytes;
}
