import type { OperationByName, OperationName } from '@patchbay/contract/operations';
import type { z } from 'zod';
import type { Principal } from '../kernel/principal.ts';

/** What an operation may use besides its own parts: who asks, and the news it may send while it works. */
export interface OperationCall {
  readonly principal: Principal;
  /** Where the call came in. */
  readonly door: 'mcp' | 'rest';
  /** Aborts when the caller no longer wants the answer. */
  readonly signal: AbortSignal;
  /** Tells a streaming caller about a piece of the answer; a plain caller hears nothing. */
  readonly progress: (message: string) => void;
  /** Set where the caller reads a stream of frames. */
  readonly stream?: CallStream;
}

/**
 * The way out of an operation that streams. Whatever can refuse the call is decided before `open`; what fails afterwards ends the
 * stream.
 */
export interface CallStream {
  open(): void;
  /** Resolves when there is room for more, or nobody reads any more. */
  send(frame: Readonly<Record<string, unknown>>, event?: StreamEvent): Promise<void>;
}

/** What an event says besides its data. */
export interface StreamEvent {
  /** The event's name; `message` where it has none. */
  readonly name?: string;
  /** Where a reader that comes back goes on. */
  readonly id?: string;
}

export type OperationInput<N extends OperationName> = z.output<OperationByName<N>['input']>;
export type OperationOutput<N extends OperationName> = z.input<OperationByName<N>['output']>;

/** The one function behind an operation at every door. */
export type OperationHandler<N extends OperationName> = (
  input: OperationInput<N>,
  call: OperationCall,
) => Promise<OperationOutput<N>>;

export type OperationHandlers = { readonly [N in OperationName]: OperationHandler<N> };

/**
 * The call of a surface that waits for one answer. A broken connection does not end a turn: it ends by its own answer or
 * time limit, as in the older MCP eras.
 */
export function plainCall(principal: Principal, door: OperationCall['door'] = 'rest'): OperationCall {
  return { principal, door, signal: new AbortController().signal, progress: () => {} };
}
