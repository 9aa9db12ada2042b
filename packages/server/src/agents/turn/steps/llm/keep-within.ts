import { estimateTokens } from '../../../model/messages.ts';
import type { ModelMessage } from '../../../model/model.ts';

/** Takes the oldest exchanges away, a call with its reply, until about so many tokens are left; the last one always stays (platform.md 3.7). */
export function keepWithin(exchanges: ModelMessage[], maxTokens: number): void {
  while (exchanges.length > 2 && estimateTokens(exchanges) > maxTokens) exchanges.splice(0, 2);
}
