const FIRST_MS = 1_000;
/** The longest pause between two tries (W-12). */
const LONGEST_MS = 60_000;

/** Milliseconds before the next try after so many that failed: twice as long each time, and up to a fifth shorter by chance (W-12, W-13). */
export function backoffMs(failures: number, random: () => number): number {
  const full = Math.min(FIRST_MS * 2 ** Math.min(failures - 1, 10), LONGEST_MS);
  return Math.round(full * (1 - random() / 5));
}
