/**
 * Runs programs as the platform does, one for each argument, which is the arguments of one as JSON; says `ready` when each has said something
 * and was looked at, and then waits to be killed.
 */
import { createProgramHost } from '../../../packages/server/src/connections/session/stdio/program-host.ts';
import { createStdioTransport } from '../../../packages/server/src/connections/session/stdio/stdio-transport.ts';
import { systemClock } from '../../../packages/server/src/kernel/clock.ts';
import { createLogger } from '../../../packages/server/src/kernel/logger.ts';

const clock = systemClock;
const logger = createLogger({ level: 'warn', format: 'json', destination: process.stderr, clock });
const host = createProgramHost({ clock, logger, maxPrograms: 20, maxProgramMib: 1_000 });

await Promise.all(
  process.argv.slice(2).map(async args => {
    const transport = createStdioTransport({
      host,
      clock,
      logger,
      command: process.execPath,
      args: JSON.parse(args) as string[],
      env: process.env as Record<string, string>,
      cwd: undefined,
      inherited: {},
    });
    const said = new Promise<void>(resolve => {
      transport.onmessage = () => resolve();
    });
    await transport.start();
    await said;
  }),
);
await host.look();
process.stdout.write('ready\n');
