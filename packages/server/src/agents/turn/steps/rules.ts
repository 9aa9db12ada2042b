import { type RulesDocument, rulesDocument } from '../../document/rules.ts';
import { parseExpression } from '../../language/expression.ts';
import type { CompiledStep, StepResult, StepTools, StepType, TurnMemory } from '../../step/step.ts';
import { type CapableIds, findCapable } from './capable-agents.ts';
import { allOf, compileCondition, factsOf, type RuleSet, viewTurn } from './conditions.ts';
import { timesOf } from './counts.ts';
import { explainRules } from './explain-rules.ts';
import { inSlices, type Sliced } from './in-slices.ts';
import { loadStepDocument } from './step-config.ts';
import { createTemplateCache } from './template.ts';

/**
 * Raises actions. Groups are evaluated in order and each may contribute: the first rule that holds, or every one with
 * `executeAll`. Conditions see the turn as it was when the step began, so the order of groups changes the order of
 * actions only. The rules that fired are counted for the conversation. STOP_CONVERSATION ends the turn here.
 */
export const rulesStep: StepType = {
  type: 'rules',
  async compile(step, load) {
    return compileRules(await loadStepDocument(step, rulesDocument, load));
  },
};

/** More than conditions with templates may be in one document. */
const CACHED_TEMPLATES = 100;

export function compileRules(document: RulesDocument): CompiledStep {
  const { appendActions, expressionsAsActions } = document;
  const set: RuleSet = { lookBacks: new Map(), rules: new Map(), skills: [] };
  const templates = createTemplateCache(CACHED_TEMPLATES);
  const groups = document.behaviorGroups.map(({ executionStrategy, rules }) => ({
    firstOnly: executionStrategy === 'executeUntilFirstSuccess',
    rules: rules.map(({ name, actions, conditions }) => {
      const holds = allOf(conditions.map(condition => compileCondition(condition, set)));
      if (!set.rules.has(name)) set.rules.set(name, []);
      set.rules.get(name)!.push(holds);
      return { name, actions, holds };
    }),
  }));

  function* evaluate(
    memory: TurnMemory,
    tools: StepTools,
    capable: readonly CapableIds[],
  ): Sliced<StepResult> {
    const turn = viewTurn(memory, tools, capable);
    const actions = new Set(appendActions ? memory.actions : []);
    if (expressionsAsActions) for (const name of namesOf(memory.expressions)) actions.add(name);
    const fired: string[] = [];
    const failed: string[] = [];
    for (const { firstOnly, rules } of groups) {
      for (const rule of rules) {
        const state = rule.holds(turn);
        if (tools.budget.sliceIsOver) yield;
        if (state !== 'SUCCESS') {
          failed.push(rule.name);
          continue;
        }
        fired.push(rule.name);
        for (const action of rule.actions) actions.add(action);
        if (firstOnly) break;
      }
    }
    memory.actions = [...actions];
    for (const name of fired) memory.counters.rules[name] = timesOf(memory.counters.rules, name) + 1;
    if (fired.length > 0) memory.remember('behavior_rules:success', fired);
    if (failed.length > 0) memory.remember('behavior_rules:fail', failed);
    return actions.has('STOP_CONVERSATION') ? 'stop' : 'continue';
  }

  function run(memory: TurnMemory, tools: StepTools): StepResult | Promise<StepResult> {
    if (set.skills.length === 0) return inSlices(evaluate(memory, tools, []), tools.budget);
    return findCapable(set.skills, templates, memory, tools).then(capable =>
      inSlices(evaluate(memory, tools, capable), tools.budget),
    );
  }

  return {
    run(memory, tools) {
      if (tools.explain) {
        return explainRules(document, memory, tools).then(rules => {
          tools.explain!(rules);
          return run(memory, tools);
        });
      }
      return run(memory, tools);
    },
    noteTurn(turn, { seen }, budget) {
      const facts = factsOf(turn);
      for (const [key, matches] of set.lookBacks) {
        if (!Object.hasOwn(seen, key) && matches(facts, budget)) seen[key] = true;
      }
    },
  };
}

/** What a person typed freely (`unknown`, `unused`) raises nothing. */
function namesOf(expressions: readonly string[]): string[] {
  return expressions
    .map(text => parseExpression(text)?.name ?? text)
    .filter(name => name !== 'unknown' && name !== 'unused');
}
