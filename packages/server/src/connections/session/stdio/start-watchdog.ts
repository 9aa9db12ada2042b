import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../../../kernel/clock.ts';
import type { Logger } from '../../../kernel/logger.ts';
import type { ProcessTree } from './process-tree.ts';
import type { WatchdogOrder } from './watchdog.ts';

const WATCHDOG = fileURLToPath(new URL('./watchdog.ts', import.meta.url));
/** One that ends sooner is started again with the next program only, or a broken one would be started without end. */
const WORTH_RESTARTING_MS = 10_000;

export interface Watchdog {
  tell(order: WatchdogOrder): void;
  /** Lets it go; it ends what it still watches. */
  stop(): Promise<void>;
}

/**
 * The platform's side of `watchdog.ts`. The process runs from the first program on, and again when somebody ends it; it is told of what is `watched`
 * then. It has no environment, and hears no secret.
 */
export function createWatchdog(options: {
  readonly clock: Pick<Clock, 'now'>;
  readonly logger: Logger;
  readonly watched: () => readonly ProcessTree[];
}): Watchdog {
  const { clock, logger, watched } = options;
  let running: ChildProcess | undefined;
  let exited: Promise<void> = Promise.resolve();
  let isStopping = false;

  const write = (order: WatchdogOrder) => void running?.stdin?.write(`${JSON.stringify(order)}\n`);
  const start = () => {
    const startedAt = clock.now();
    const child = spawn(process.execPath, [WATCHDOG], {
      env: {},
      // A session of its own, or what ends the platform's process group ends it too.
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      windowsHide: true,
    });
    running = child;
    exited = new Promise(resolve => {
      const onEnd = (error?: unknown) => {
        resolve();
        if (running !== child) return;
        running = undefined;
        if (isStopping) return;
        logger.warn('the process that ends programs when the platform dies has ended itself', { error });
        if (watched().length > 0 && clock.now() - startedAt >= WORTH_RESTARTING_MS) start();
      };
      child.once('error', onEnd);
      child.once('exit', code => onEnd(code));
    });
    // It has ended, which `exit` says.
    child.stdin?.on('error', () => undefined);
    // A platform that has nothing else to do does not stay for it.
    child.unref();
    for (const tree of watched()) write({ watch: tree });
  };

  return {
    tell(order) {
      if (running) write(order);
      else if ('watch' in order && !isStopping) start();
    },
    async stop() {
      isStopping = true;
      running?.stdin?.end();
      // This is waited for, or a platform that has nothing else to do would not live to see it.
      running?.ref();
      await exited;
    },
  };
}
