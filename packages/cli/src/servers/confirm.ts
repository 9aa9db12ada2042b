import { askValue } from '../ask.ts';
import type { Io } from '../io.ts';

/** Asks a person on a terminal; anything but yes is no. */
export async function confirm(io: Io, question: string): Promise<boolean> {
  const answer = await askValue(io, `${question} [y/N] `, { hidden: false, usual: 'n' });
  return /^y(?:es)?$/i.test(answer.trim());
}
