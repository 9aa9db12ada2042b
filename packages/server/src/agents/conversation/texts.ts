import type { OutputItem } from '@patchbay/contract/operations/conversation';

/** The texts of an answer, one a bubble. */
export function textsOf(output: readonly OutputItem[]): string[] {
  return output.flatMap(item => (item.type === 'text' && item.text !== undefined ? [item.text] : []));
}
