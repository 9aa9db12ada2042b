import type { Command } from 'commander';
import { CliError, EXIT } from '../cli-error.ts';
import { connect } from '../connection.ts';
import type { Io, RunningPlatform, Signals } from '../io.ts';
import { readyScreen } from '../ready-screen.ts';
import { writeLine } from '../text.ts';

/** npm and a terminal both hand a Ctrl-C on: what comes so soon after the first is the same one. Milliseconds. */
const SAME_SIGNAL = 1000;

export function addUp(program: Command, io: Io): void {
  program
    .command('up')
    .description('start the platform and stay with it')
    .option('--json', 'print the addresses as one line of JSON')
    .addHelpText(
      'after',
      `
Settings come from PATCHBAY_* variables, for example PATCHBAY_PORT and PATCHBAY_DATA_DIR, or from patchbay.config.json.
The log goes to stderr. Ctrl-C lets running turns end; a second one stops at once.

Examples:
  npx patchbay up
  PATCHBAY_PORT=8080 PATCHBAY_DATA_DIR=./data npx patchbay up`,
    )
    .action(async (options: { json?: boolean }, command: Command) =>
      up(io, (options.json ?? command.parent?.opts().json) === true),
    );
}

async function up(io: Io, asJson: boolean): Promise<void> {
  const platform = await io.startPlatform({
    env: io.env,
    home: io.home,
    cwd: io.cwd,
    logTo: io.stderr,
    interactive: io.stdout.isTTY === true,
  });
  const stopped = untilStopped(io, platform);
  const agentId = await firstAgent(io, platform);
  if (asJson) {
    const { url, operatorUrl, dataDir, firstStart } = platform;
    const agentUrl = agentId === undefined ? undefined : platform.agentUrl(agentId);
    const key = io.stdout.isTTY ? platform.firstKey : undefined;
    const signIn = io.stdout.isTTY ? platform.firstSignIn : undefined;
    writeLine(io.stdout, JSON.stringify({ url, operatorUrl, agentUrl, dataDir, firstStart, key, signIn }));
  } else {
    writeLine(io.stdout, readyScreen(io, platform, agentId));
  }
  await stopped;
}

/** Resolves once a signal came and the platform has stopped. A second signal does not wait for the turns that run. */
function untilStopped(io: Io, platform: RunningPlatform): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let firstAt: number | undefined;
  const onSignal = (): void => {
    if (firstAt === undefined) {
      firstAt = io.now();
      writeLine(io.stderr, 'Stopping; Ctrl-C again stops at once.');
      platform.stop().then(resolve, reject);
    } else if (io.now() - firstAt > SAME_SIGNAL) {
      reject(new CliError(EXIT.failed, 'Stopped without waiting for the turns that were running.'));
    }
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] satisfies Parameters<Signals['on']>[0][];
  for (const signal of signals) io.signals.on(signal, onSignal);
  return promise.finally(() => {
    for (const signal of signals) io.signals.off(signal, onSignal);
  });
}

/** The agent of the screen's examples: the demo of a fresh installation, else the first there is. */
async function firstAgent(io: Io, platform: RunningPlatform): Promise<string | undefined> {
  // The platform that was just started, whatever PATCHBAY_URL and PATCHBAY_KEY name.
  const here: Io = { ...io, env: { PATCHBAY_DATA_DIR: platform.dataDir } };
  try {
    const { client } = await connect(here, {});
    const { agents } = await client.call('discover_agents', {});
    return (agents.find(agent => agent.agentId === 'demo') ?? agents[0])?.agentId;
  } catch (thrown) {
    writeLine(io.stderr, `The agents could not be listed: ${(thrown as Error).message}`);
    return undefined;
  }
}
