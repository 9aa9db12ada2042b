import type { Clock } from '../../kernel/clock.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { TurnBudget } from '../step/step.ts';
import type { Turnstile } from './turnstile.ts';

// docs/agent-files.md says the same. A turn of a usual agent takes less than a thousandth of either.
/** About a quarter of a second of work: nobody waits longer for an answer without a model, and nobody pays for more. */
const MAX_STEPS = 2_000_000;
/** An answer is held, stored and sent in several copies at once; this keeps all of them within some megabytes. */
const MAX_CHARACTERS = 1_000_000;

/** What another caller waits at the most for a turn that works hard. Milliseconds. */
const SLICE_MS = 5;
/** Looking at the clock costs as much as some steps. */
const STEPS_BETWEEN_LOOKS = 1_000;

/** The budget of a turn that begins now. */
export function createTurnBudget(turn: {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly turnstile: Turnstile;
}): TurnBudget {
  const { clock, signal, turnstile } = turn;
  let steps = 0;
  let characters = 0;
  let exhausted: PlatformError | undefined;
  let sliceEnd = clock.now() + SLICE_MS;
  let nextLook = STEPS_BETWEEN_LOOKS;

  function exhaust(sentence: string): never {
    exhausted ??= new PlatformError('internal', sentence);
    throw exhausted;
  }

  return {
    work(count) {
      steps += count;
      if (steps > MAX_STEPS) {
        exhaust(
          `one turn may take ${MAX_STEPS} steps of work; simplify the patterns, rules or templates of the agent.`,
        );
      }
    },
    write(count) {
      characters += count;
      if (characters > MAX_CHARACTERS) {
        exhaust(`one turn may answer with ${MAX_CHARACTERS} characters; let the agent say less.`);
      }
    },
    get exhausted() {
      return exhausted;
    },
    get sliceIsOver() {
      if (steps < nextLook) return false;
      nextLook = steps + STEPS_BETWEEN_LOOKS;
      return clock.now() >= sliceEnd;
    },
    async pause() {
      await turnstile.pass();
      signal.throwIfAborted();
      sliceEnd = clock.now() + SLICE_MS;
    },
  };
}
