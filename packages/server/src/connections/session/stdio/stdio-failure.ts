/**
 * What went wrong with a program:
 * - `not-started`: it could not be started; nothing runs.
 * - `refused`: the platform runs as many as it may.
 * - `closed`: it has ended, or the connection was closed.
 * - `too-long`: it wrote a line longer than a message may be.
 * - `too-large`: its processes use more memory than they may.
 * - `not-reading`: it takes in less than is sent to it, and what waits has reached its limit.
 */
export type StdioFailureKind =
  | 'not-started'
  | 'refused'
  | 'closed'
  | 'too-long'
  | 'too-large'
  | 'not-reading';

/** The message is a phrase for people, without secrets. */
export class StdioFailure extends Error {
  readonly kind: StdioFailureKind;
  /** Was the message of a `send` provably not handed to the program? */
  readonly reached: 'no' | 'unknown';

  constructor(
    kind: StdioFailureKind,
    reached: 'no' | 'unknown',
    message: string,
    options: { readonly cause?: unknown } = {},
  ) {
    super(message, options);
    this.name = 'StdioFailure';
    this.kind = kind;
    this.reached = reached;
  }
}
