import type { OutputItem } from '@patchbay/contract/operations/conversation';
import { textsOf } from './texts.ts';

interface Said {
  readonly input?: string | undefined;
  readonly output?: readonly OutputItem[] | undefined;
}

/** A conversation as people would write it down: `User: ...` and `Agent: ...`, one line a message. */
export function toTranscript(outputs: readonly Said[]): string {
  return outputs.flatMap(linesOf).join('\n');
}

function linesOf(output: Said): string[] {
  const said = output.input === undefined ? [] : [`User: ${output.input}`];
  const answered = textsOf(output.output ?? []);
  return answered.length === 0 ? said : [...said, `Agent: ${answered.join(' ')}`];
}
