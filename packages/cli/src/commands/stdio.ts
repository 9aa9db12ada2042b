import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { isAgentId } from '@patchbay/contract/ids';
import type { Command } from 'commander';
import { usageError } from '../cli-error.ts';
import type { ConnectionOptions } from '../connection.ts';
import type { Io } from '../io.ts';
import { addConnectionOptions, sharedOptions } from '../shared-options.ts';
import { runBridge } from '../stdio/bridge.ts';
import { agentDoor, operatorDoor } from '../stdio/door.ts';
import { writeLine } from '../text.ts';

export function addStdio(program: Command, io: Io): void {
  addConnectionOptions(program.command('stdio'))
    .description('bridge an MCP host that speaks only stdio to the running platform')
    .argument('[agentId]', 'one agent; without it the whole platform (/mcp)')
    .addHelpText(
      'after',
      `
A host starts this by itself; \`npx patchbay connect\` writes the entry. Messages go through as they are, both ways.

Example:
  echo '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' | npx patchbay stdio demo`,
    )
    .action(async (agentId: string | undefined, _: unknown, command: Command) =>
      stdio(io, agentId, sharedOptions(command)),
    );
}

async function stdio(io: Io, agentId: string | undefined, options: ConnectionOptions): Promise<void> {
  if (agentId !== undefined && !isAgentId(agentId)) throw usageError(`'${agentId}' is no id of an agent.`);
  const door = agentId === undefined ? operatorDoor(io, options) : agentDoor(io, options, agentId);
  const stopped = new AbortController();
  // The input is closed too: reading it is what keeps us here.
  const stop = (): void => {
    stopped.abort();
    io.stdin.destroy();
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) io.signals.on(signal, stop);
  const note = (sentence: string): void => writeLine(io.stderr, `patchbay: ${sentence}`);
  try {
    await runBridge({
      input: io.stdin,
      write: createMessageWriter(io.stdout),
      door,
      fetch: io.fetch,
      note,
      signal: stopped.signal,
    });
  } catch (thrown) {
    // Destroying the input ends its reading with an error.
    if (!stopped.signal.aborted) throw thrown;
  } finally {
    for (const signal of signals) io.signals.off(signal, stop);
    await door
      .close()
      .catch(thrown => note(`The key of this bridge was not ended: ${(thrown as Error).message}`));
  }
}

/** Whole lines only, so answers of calls that run side by side never mix; waits while the host does not read. */
function createMessageWriter(stdout: Writable): (line: string) => Promise<void> {
  let drained: Promise<unknown> | undefined;
  return async line => {
    if (stdout.write(`${line}\n`)) return;
    drained ??= once(stdout, 'drain').finally(() => {
      drained = undefined;
    });
    await drained;
  };
}
