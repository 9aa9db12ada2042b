import type { PlatformError } from '../../kernel/errors.ts';
import type { TurnAnswer } from './turn-answer.ts';

/** A turn in the unit that stores it, for whoever keeps a record of it besides its conversation. */
export interface StoredTurn {
  readonly conversationId: string;
  /** The message in the background that it answers. */
  readonly delivery: string | undefined;
  /** Is there a log of the conversation? */
  readonly logged: boolean;
  /** What the person said, as the conversation keeps it; `undefined` in a greeting. */
  readonly input: string | undefined;
  /** It has waited for a person and was told of then. */
  readonly wasTold: boolean;
  readonly outcome: { readonly answer: TurnAnswer } | { readonly failure: PlatformError };
  readonly at: number;
}
