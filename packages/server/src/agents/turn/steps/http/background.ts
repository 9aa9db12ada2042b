/** Calls that nobody waits for, so many at once. Each ends by its own time limit. */
export interface Background {
  /** False when there are too many: then it is not started. */
  start(run: () => Promise<unknown>): boolean;
}

export function createBackground(max: number): Background {
  let running = 0;
  const end = () => {
    running -= 1;
  };
  return {
    start(run) {
      if (running >= max) return false;
      running += 1;
      run().then(end, end);
      return true;
    },
  };
}
