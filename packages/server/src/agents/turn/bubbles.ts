import type { OutputItem } from '@patchbay/contract/operations/conversation';

/** Where in an answer its texts stand, one bubble each: in this order they are told, and counted from 0. */
export function bubblesIn(output: readonly OutputItem[]): readonly number[] {
  return output.flatMap(({ type, text }, place) => (type === 'text' && text !== undefined ? [place] : []));
}
