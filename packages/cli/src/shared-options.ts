import type { Command } from 'commander';
import type { ConnectionOptions } from './connection.ts';

export interface SharedOptions extends ConnectionOptions {
  readonly json?: boolean | undefined;
}

/** The options every command takes, before or after its name. */
export function addSharedOptions(command: Command): Command {
  return addConnectionOptions(command.option('--json', 'print the result as JSON'));
}

export function addConnectionOptions(command: Command): Command {
  return command
    .option('--url <address>', 'platform to talk to (PATCHBAY_URL); default: the one running on this machine')
    .option('--key <key>', 'key to use there (PATCHBAY_KEY); default: the owner, on this machine');
}

/** The shared options of a command, wherever they stood on the line; beside the name wins. */
export function sharedOptions(command: Command): SharedOptions {
  let root = command;
  while (root.parent) root = root.parent;
  return { ...root.opts(), ...command.opts() };
}
