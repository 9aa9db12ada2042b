import type { Clock } from '../../../kernel/clock.ts';
import type { Logger } from '../../../kernel/logger.ts';
import { listProcesses, membersOf, type ProcessEntry, type ProcessTree, treeMemory } from './process-tree.ts';
import { createWatchdog } from './start-watchdog.ts';

const MEBIBYTE = 1024 * 1024;

export interface ProgramHostOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Programs that may run at once. */
  readonly maxPrograms: number;
  /** Mebibytes of memory that the processes of one program may have together; looked at on Linux only. */
  readonly maxProgramMib: number;
}

/** May one more program run? */
export type Admission =
  | { readonly kind: 'admitted'; readonly place: ProgramPlace }
  | { readonly kind: 'refused'; readonly message: string };

export interface ProgramPlace {
  /** What is known of the processes by now; `undefined` before `watch`. */
  readonly tree: ProcessTree | undefined;
  /** The program runs: from now on it is ended when the platform dies, and looked at now and then. */
  watch(tree: ProcessTree): void;
  /** Looks at it now (`ProgramHost.look`). */
  look(): Promise<void>;
  /** Nothing of the program runs any more, or nothing ever did. */
  leave(): void;
}

/** What the programs of one platform share: how many they may be, how much memory they may have, and who ends them when the platform dies. */
export interface ProgramHost extends AsyncDisposable {
  /** Programs that run or are being started. */
  readonly running: number;
  /** Asks for a place for one more. `onTooLarge` is called once, with a phrase, when its memory exceeds the limit. */
  enter(onTooLarge: (why: string) => void): Admission;
  /**
   * Looks at all programs: at their memory, and at the sessions their processes have begun, by which those are found later on. Happens by
   * itself soon after a start, then ever more seldom, and before a program is ended.
   */
  look(): Promise<void>;
}

const FIRST_LOOK_MS = 250;
const LONGEST_LOOK_MS = 10_000;

interface Place extends ProgramPlace {
  tree: ProcessTree | undefined;
  readonly onTooLarge: (why: string) => void;
  isTooLarge: boolean;
}

export function createProgramHost(options: ProgramHostOptions): ProgramHost {
  const { clock, logger, maxPrograms, maxProgramMib } = options;
  const places = new Set<Place>();
  const watchdog = createWatchdog({
    clock,
    logger,
    watched: () => [...places].flatMap(({ tree }) => tree ?? []),
  });
  let looking = new AbortController();

  const look = async () => {
    const processes = await listProcesses();
    for (const place of processes ? places : []) await lookAt(place, processes!);
  };
  const lookAt = async (place: Place, processes: readonly ProcessEntry[]) => {
    if (!place.tree) return;
    const members = await membersOf(place.tree, processes, { byStreams: false });
    const bytes = await treeMemory(members.keys());
    if (!places.has(place)) return;
    const seen = [...members.values()].map(({ session }) => session);
    const sessions = [...new Set([place.tree.leader, ...seen])];
    if (sessions.join() !== place.tree.sessions.join()) {
      place.tree = { ...place.tree, sessions };
      watchdog.tell({ watch: place.tree });
    }
    if (place.isTooLarge || bytes <= maxProgramMib * MEBIBYTE) return;
    place.isTooLarge = true;
    const used = Math.ceil(bytes / MEBIBYTE);
    place.onTooLarge(
      `it uses ${used} MiB of memory, more than the ${maxProgramMib} that connections.maxProgramMib allows`,
    );
  };
  const lookNowAndThen = async (signal: AbortSignal) => {
    for (let pause = FIRST_LOOK_MS; !signal.aborted; pause = Math.min(2 * pause, LONGEST_LOOK_MS)) {
      await clock.sleep(pause, signal);
      await look();
    }
  };
  const lookFromNowOn = () => {
    looking.abort();
    looking = new AbortController();
    const { signal } = looking;
    lookNowAndThen(signal).catch(error => {
      if (!signal.aborted) logger.error('programs are no longer looked at', { error });
    });
  };

  const newPlace = (onTooLarge: (why: string) => void): Place => ({
    tree: undefined,
    onTooLarge,
    isTooLarge: false,
    watch(tree) {
      this.tree = tree;
      watchdog.tell({ watch: tree });
      lookFromNowOn();
    },
    async look() {
      const processes = await listProcesses();
      if (processes) await lookAt(this, processes);
    },
    leave() {
      if (!places.delete(this)) return;
      if (this.tree) watchdog.tell({ forget: this.tree.leader });
      if (places.size === 0) looking.abort();
    },
  });

  return {
    get running() {
      return places.size;
    },
    enter(onTooLarge) {
      if (places.size >= maxPrograms) {
        const message = `as many programs run as connections.maxPrograms allows, ${maxPrograms}`;
        return { kind: 'refused', message };
      }
      const place = newPlace(onTooLarge);
      places.add(place);
      return { kind: 'admitted', place };
    },
    look,
    async [Symbol.asyncDispose]() {
      looking.abort();
      await watchdog.stop();
    },
  };
}
