import { deadRules } from './dead-rules.ts';
import type { Finding } from './finding.ts';
import type { LintedAgent } from './linted-agent.ts';
import { actionsOf } from './raised-actions.ts';
import { unheard } from './unheard.ts';
import { shadowedQuickReplies, unaskedWords } from './words.ts';

/** What in an agent's documents does nothing, as far as that can be proved without running it. */
export function lintAgent(agent: LintedAgent): Finding[] {
  const actions = actionsOf(agent);
  return [
    ...deadRules(agent, actions),
    ...unheard(agent, actions),
    ...unaskedWords(agent),
    ...shadowedQuickReplies(agent),
  ];
}
