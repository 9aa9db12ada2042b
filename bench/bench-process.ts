import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** A script of `servers/` in a process of its own, which says when it is ready. */
export interface BenchProcess<Ready> {
  readonly pid: number;
  readonly ready: Ready;
  /** Sends a message and resolves with the next one that comes back. Rejects when the process ends instead. */
  ask(message: object): Promise<unknown>;
  stop(): Promise<void>;
}

/** Resolves with the first message of the script. Rejects when it ends before. */
export async function startProcess<Ready>(
  script: string,
  { args = [], env = {}, execArgv = [] }: ProcessOptions = {},
): Promise<BenchProcess<Ready>> {
  const child = fork(join(import.meta.dirname, 'servers', script), args, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { ...process.env, ...env },
    execArgv: [...execArgv],
  });
  const exited = once(child, 'exit');
  const next = async () => {
    const ended = exited.then(([code]) => {
      throw new Error(`${script} ${args.join(' ')} ended with ${code}.`);
    });
    ended.catch(() => {});
    const [message] = await Promise.race([once(child, 'message'), ended]);
    return message as unknown;
  };
  const ready = (await next()) as Ready;
  return {
    pid: child.pid!,
    ready,
    ask(message) {
      const answer = next();
      child.send(message);
      return answer;
    },
    async stop() {
      child.kill();
      await exited;
    },
  };
}

interface ProcessOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly execArgv?: readonly string[];
}
