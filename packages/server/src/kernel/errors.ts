import { ERROR_TABLE, type ErrorKind, type ErrorRow } from '@patchbay/contract/errors';

/**
 * What a caller is told: a kind with its codes, a plain sentence that names the remedy, and data that is safe to show.
 * Causes stay with us; one place per door writes it to the wire (house rule 17).
 */
export class PlatformError extends Error {
  readonly kind: ErrorKind;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(
    kind: ErrorKind,
    message: string,
    options: { details?: Record<string, unknown>; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'PlatformError';
    this.kind = kind;
    this.details = options.details;
  }

  get row(): ErrorRow {
    return ERROR_TABLE[this.kind];
  }
}

/**
 * What only we see: something in the platform broke. Doors answer `internal` and keep the text for the log (E-24).
 * `code` is for finding it again, `data` must hold no secret.
 */
export class Fault extends Error {
  readonly code: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** What a caller is told, where that is more than that something failed. */
  readonly told: PlatformError | undefined;

  constructor(
    code: string,
    message: string,
    options: { data?: Record<string, unknown>; cause?: unknown; told?: PlatformError } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'Fault';
    this.code = code;
    this.data = options.data ?? {};
    this.told = options.told;
  }
}

/** The caller's error for anything thrown: a `PlatformError` as it is, of a `Fault` what is to be told, all else as `internal` naming only what failed. */
export function toPlatformError(thrown: unknown, whatFailed: string): PlatformError {
  if (thrown instanceof PlatformError) return thrown;
  if (thrown instanceof Fault && thrown.told) return thrown.told;
  return new PlatformError('internal', `${whatFailed} failed on the server; the server log says why.`, {
    cause: thrown,
  });
}
