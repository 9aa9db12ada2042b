import type { ConversationOutput } from '@patchbay/contract/operations/conversation';
import { textsOf } from './texts.ts';

/** A conversation as people would write it down: `User: ...` and `Agent: ...`, one line a message. */
export function toTranscript(outputs: readonly ConversationOutput[]): string {
  return outputs.flatMap(linesOf).join('\n');
}

function linesOf(output: ConversationOutput): string[] {
  const said = output.input === undefined ? [] : [`User: ${output.input}`];
  const answered = textsOf(output.output ?? []);
  return answered.length === 0 ? said : [...said, `Agent: ${answered.join(' ')}`];
}
