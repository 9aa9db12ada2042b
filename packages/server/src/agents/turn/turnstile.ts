import { setImmediate } from 'node:timers/promises';

/** Where the long turns of a process queue for their next slice. */
export interface Turnstile {
  pass(): Promise<void>;
}

/** Lets one through in each round of the event loop, in the order they came: others wait for one slice, however many queue. */
export function createTurnstile(): Turnstile {
  let last = Promise.resolve();
  return {
    pass() {
      last = last.then(() => setImmediate());
      return last;
    },
  };
}
