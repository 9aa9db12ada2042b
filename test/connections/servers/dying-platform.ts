/**
 * Runs programs as the platform does: one for each line of its stdin, which is the arguments of one as JSON. Says `ready` when that
 * one has said something and was looked at, and waits for the next, or to be killed. When its stdin ends it ends as a platform does that is told to,
 * and says `ended`.
 */
import { createInterface } from 'node:readline';
import { createProgramHost } from '../../../packages/server/src/connections/session/stdio/program-host.ts';
import {
  createStdioTransport,
  type StdioTransport,
} from '../../../packages/server/src/connections/session/stdio/stdio-transport.ts';
import { systemClock } from '../../../packages/server/src/kernel/clock.ts';
import { createLogger } from '../../../packages/server/src/kernel/logger.ts';

const clock = systemClock;
const logger = createLogger({ level: 'warn', format: 'json', destination: process.stderr, clock });
const host = createProgramHost({ clock, logger, maxPrograms: 20, maxProgramMib: 1_000 });

const running: StdioTransport[] = [];
for await (const line of createInterface({ input: process.stdin })) {
  const transport = createStdioTransport({
    host,
    clock,
    logger,
    command: process.execPath,
    args: JSON.parse(line) as string[],
    env: process.env as Record<string, string>,
    cwd: undefined,
    inherited: {},
  });
  running.push(transport);
  const said = new Promise<void>(resolve => {
    transport.onmessage = () => resolve();
  });
  await transport.start();
  await said;
  await host.look();
  process.stdout.write('ready\n');
}
await Promise.all(running.map(transport => transport.close()));
await host[Symbol.asyncDispose]();
process.stdout.write('ended\n');
