import type { TurnEvent } from './run-turn.ts';

/** So many pieces of a turn are told as they come: the answers that models give in one. */
const MAX_PIECES = 10_000;
/** Characters of one that is joined. */
const JOINED = 200;

/** Tells whoever listens what an agent says while it says it. */
export interface Speech {
  /** Another piece of a bubble: told at once, until a turn has had very many; a model that sends each letter by itself costs its listeners no event a letter. */
  say(text: string, index: number): void;
  /** Tells what is held back. */
  flush(): void;
}

export function createSpeech(onEvent: ((event: TurnEvent) => void) | undefined): Speech {
  let pieces = 0;
  let held = { text: '', index: 0 };

  function flush(): void {
    if (held.text === '') return;
    pieces += 1;
    onEvent?.({ type: 'reply-delta', ...held });
    held = { text: '', index: 0 };
  }

  return {
    say(text, index) {
      if (index !== held.index) flush();
      held = { text: held.text + text, index };
      if (pieces < MAX_PIECES || held.text.length >= JOINED) flush();
    },
    flush,
  };
}
