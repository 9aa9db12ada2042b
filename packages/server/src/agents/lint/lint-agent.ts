import { setImmediate } from 'node:timers/promises';
import { deadRules } from './dead-rules.ts';
import type { Finding, Look } from './finding.ts';
import type { LintedAgent } from './linted-agent.ts';
import { plainKeys } from './plain-keys.ts';
import { actionsOf } from './raised-actions.ts';
import { unheard } from './unheard.ts';
import { shadowedQuickReplies, unaskedWords } from './words.ts';

/** Looks after which others come first: a large agent takes some thousand. */
const LOOKS_IN_A_ROW = 25;

/** What in an agent's documents does nothing, as far as that can be proved without running it. */
export async function lintAgent(agent: LintedAgent): Promise<Finding[]> {
  const findings: Finding[] = [];
  let looks = 0;
  for (const look of all(agent)) {
    if (look !== undefined) findings.push(look);
    looks += 1;
    if (looks % LOOKS_IN_A_ROW === 0) await setImmediate();
  }
  return findings;
}

function* all(agent: LintedAgent): Generator<Look> {
  const actions = actionsOf(agent);
  yield* deadRules(agent, actions);
  yield* unheard(agent, actions);
  yield* unaskedWords(agent);
  yield* shadowedQuickReplies(agent);
  yield* plainKeys(agent);
}
