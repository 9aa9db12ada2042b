import type { OperationByName, OperationName } from '@patchbay/contract/operations';
import type { z } from 'zod';
import type { Principal } from '../kernel/principal.ts';

/** What an operation may use besides its own parts: who asks, and the news it may send while it works. */
export interface OperationCall {
  readonly principal: Principal;
  /** Aborts when the caller no longer wants the answer. */
  readonly signal: AbortSignal;
  /** Tells a streaming caller about a piece of the answer; a plain caller hears nothing. */
  readonly progress: (message: string) => void;
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
export function plainCall(principal: Principal): OperationCall {
  return { principal, signal: new AbortController().signal, progress: () => {} };
}
