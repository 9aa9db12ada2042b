import { ClientError } from '@patchbay/contract/client';

/** What a script learns from the exit code; `npx patchbay --help` lists them. */
export const EXIT = { ok: 0, failed: 1, usage: 2, notAllowed: 3, unreachable: 4 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Ends a command. The message is one sentence for stderr that names the remedy. */
export class CliError extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string, options: { cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'CliError';
    this.exitCode = exitCode;
  }
}

/** A wrong command line. */
export function usageError(message: string, options: { cause?: unknown } = {}): CliError {
  return new CliError(EXIT.usage, message, options);
}

/** The sentence and the exit code of anything a command threw. */
export function toCliError(thrown: unknown): CliError {
  if (thrown instanceof CliError) return thrown;
  const cause = thrown;
  if (thrown instanceof ClientError) {
    if (thrown.code === 'unreachable') {
      const remedy = 'Start it with `npx patchbay up`, or give another address with --url.';
      return new CliError(EXIT.unreachable, `${thrown.message} ${remedy}`, { cause });
    }
    const refused = thrown.status === 401 || thrown.status === 403;
    return new CliError(refused ? EXIT.notAllowed : EXIT.failed, thrown.message, { cause });
  }
  return new CliError(EXIT.failed, thrown instanceof Error ? thrown.message : String(thrown), { cause });
}
