import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { expect } from 'vitest';
import {
  createProgramHost,
  type ProgramHost,
} from '../../packages/server/src/connections/session/stdio/program-host.ts';
import {
  createStdioTransport,
  type StdioOptions,
  type StdioTransport,
} from '../../packages/server/src/connections/session/stdio/stdio-transport.ts';
import { systemClock } from '../../packages/server/src/kernel/clock.ts';
import { createLogger } from '../../packages/server/src/kernel/logger.ts';

export const ODD_PROGRAM = fileURLToPath(new URL('servers/odd-program.ts', import.meta.url));

/** A variable every process of one test has, however it came to be. */
const MARK = 'PROGRAM_TEST_MARK';

/** What came over one connection, and what can be waited for. */
export interface Heard {
  readonly transport: StdioTransport;
  readonly messages: JSONRPCMessage[];
  readonly errors: Error[];
  readonly closed: Promise<void>;
  /** The next message that nobody has taken yet. */
  next(): Promise<JSONRPCMessage>;
}

/** Programs of one test: whatever they start has a mark of its own, so that what is left of them is found. */
export function newPrograms(limits: { readonly maxPrograms?: number; readonly maxProgramMib?: number } = {}) {
  const mark = randomUUID();
  const logs: string[] = [];
  const logger = createLogger({
    level: 'debug',
    format: 'json',
    destination: { write: line => logs.push(line) },
    clock: systemClock,
  });
  const host: ProgramHost = createProgramHost({
    clock: systemClock,
    logger,
    maxPrograms: 20,
    maxProgramMib: 1_000,
    ...limits,
  });
  const open: StdioTransport[] = [];

  const create = (options: Partial<StdioOptions>): StdioTransport => {
    const transport = createStdioTransport({
      host,
      clock: systemClock,
      logger,
      command: process.execPath,
      args: [],
      cwd: undefined,
      inherited: { PATH: process.env.PATH },
      ...options,
      env: { [MARK]: mark, ...options.env },
    });
    open.push(transport);
    return transport;
  };
  const start = async (options: Partial<StdioOptions>): Promise<Heard> => {
    const transport = create(options);
    const heard = listen(transport);
    await transport.start();
    return heard;
  };
  return {
    mark,
    host,
    logger,
    logs,
    create,
    start,
    /** A running program of `servers/odd-program.ts`. */
    odd: (args: readonly string[], options: Partial<StdioOptions> = {}) =>
      start({ ...options, args: [ODD_PROGRAM, ...args] }),
    left: () => processesWith(`${MARK}=${mark}`),
    /** Ends all and looks that nothing is left. */
    async end() {
      await Promise.all(open.map(transport => transport.close()));
      await host[Symbol.asyncDispose]();
      const left = await processesWith(`${MARK}=${mark}`);
      // What a failed test left must not be there for the next one.
      for (const line of left) process.kill(Number.parseInt(line, 10), 'SIGKILL');
      expect(left).toEqual([]);
      expect(host.running).toBe(0);
    },
  };
}

function listen(transport: StdioTransport): Heard {
  const messages: JSONRPCMessage[] = [];
  const errors: Error[] = [];
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  let taken = 0;
  let wake: (() => void) | undefined;
  transport.onmessage = message => {
    messages.push(message);
    wake?.();
  };
  transport.onerror = error => void errors.push(error);
  transport.onclose = () => {
    close();
    wake?.();
  };
  return {
    transport,
    messages,
    errors,
    closed,
    async next() {
      while (messages.length === taken) {
        const isClosed = Symbol('closed');
        const woken = new Promise<void>(resolve => {
          wake = resolve;
        });
        if (
          (await Promise.race([woken, closed.then(() => isClosed)])) === isClosed &&
          messages.length === taken
        )
          throw new Error(`closed: ${errors.map(error => error.message).join()}`);
      }
      return messages[taken++]!;
    },
  };
}

/** Command lines of the processes that have this text in their environment. */
export async function processesWith(text: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) continue;
    const read = (name: string) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '');
    if ((await read('environ')).split('\0').includes(text))
      found.push(`${pid} ${(await read('cmdline')).replaceAll('\0', ' ').trim()}`);
  }
  return found;
}
