import type { ConditionDocument, RulesDocument } from '../document/rules.ts';
import { type Finding, type Look, quoted, warning } from './finding.ts';
import { type Conjunction, conjunctionOf, contradictionIn, implies } from './implication.ts';
import { documentsOf, type LintedAgent, type PlacedDocument, placeIn } from './linted-agent.ts';
import { type Actions, awaited } from './raised-actions.ts';

/** Rules are compared in pairs; a large document is looked at as far as this. */
const MAX_COMPARISONS = 200_000;

type Rule = RulesDocument['behaviorGroups'][number]['rules'][number];

/** Rules that can never fire, as far as that can be proved. */
export function* deadRules(agent: LintedAgent, actions: Actions): Generator<Look> {
  const names = new Set(
    documentsOf(agent, 'rules').flatMap(({ body }) => rulesIn(body).map(({ name }) => name)),
  );
  for (const document of documentsOf(agent, 'rules')) yield* inDocument(document, actions, names);
}

const rulesIn = ({ behaviorGroups }: RulesDocument) => behaviorGroups.flatMap(({ rules }) => rules);

interface KnownRule {
  readonly rule: Rule;
  readonly all: Conjunction;
}

function* inDocument(
  document: PlacedDocument<'rules'>,
  actions: Actions,
  names: ReadonlySet<string>,
): Generator<Look> {
  const { body, last: step } = document;
  const askable = uniqueRules(rulesIn(body));
  let comparisons = 0;
  for (const group of body.behaviorGroups) {
    const before: KnownRule[] = [];
    for (const rule of group.rules) {
      yield undefined;
      const place = placeIn(document, `group ${quoted(group.name)}`, `rule ${quoted(rule.name)}`);
      const all = conjunctionOf(rule.conditions, askable);
      const why = whyImpossible(all, { step, actions, names });
      if (why !== undefined) {
        yield warning({
          code: 'dead-rule',
          place,
          says: `It never fires: ${why}.`,
          mend: 'Correct its conditions, or remove it.',
        });
        continue;
      }
      comparisons += before.reduce(
        (sum, { rule: earlier }) => sum + 1 + earlier.conditions.length * all.length,
        0,
      );
      if (comparisons > MAX_COMPARISONS) {
        yield warning({
          code: 'not-looked-at',
          place,
          says: 'There are so many rules in front of it that it was not compared with them.',
          mend: 'Split the group.',
        });
        return;
      }
      const winner = before.find(({ rule: earlier }) => earlier.conditions.every(one => implies(all, one)));
      if (winner) yield shadowed(place, winner.rule);
      else if (group.executionStrategy === 'executeUntilFirstSuccess') before.push({ rule, all });
    }
  }
}

function shadowed(place: string, { name, conditions }: Rule): Finding {
  const says =
    conditions.length === 0
      ? `It never fires: ${quoted(name)} before it has no conditions and always wins.`
      : `It never fires: whenever its conditions hold, ${quoted(name)} before it wins.`;
  return warning({
    code: 'dead-rule',
    place,
    says,
    mend: `Move it in front of ${quoted(name)}, or remove it.`,
  });
}

/** The conditions of the rules whose name is theirs alone. */
function uniqueRules(rules: readonly Rule[]): ReadonlyMap<string, readonly ConditionDocument[]> {
  const found = new Map<string, readonly ConditionDocument[]>();
  const twice = new Set<string>();
  for (const { name, conditions } of rules) {
    if (found.has(name)) twice.add(name);
    found.set(name, conditions);
  }
  for (const name of twice) found.delete(name);
  return found;
}

interface Surroundings {
  readonly step: number;
  readonly actions: Actions;
  /** Of all rules of the agent. */
  readonly names: ReadonlySet<string>;
}

function whyImpossible(all: Conjunction, surroundings: Surroundings): string | undefined {
  for (const condition of all) {
    const why = whyNever(condition, surroundings);
    if (why !== undefined) return why;
  }
  return contradictionIn(all);
}

/** Why one condition can never hold, as a phrase. */
function whyNever(condition: ConditionDocument, surroundings: Surroundings): string | undefined {
  switch (condition.type) {
    case 'actionmatcher':
      return whyUnraised(condition, surroundings);
    case 'occurrence': {
      const { behaviorRuleName, minTimesOccurred: min, maxTimesOccurred: max } = condition.configs;
      if (max >= 0 && min > max) return `nothing is there at least ${min} and at most ${max} times`;
      if (min > 0 && !surroundings.names.has(behaviorRuleName)) {
        return `it waits for the rule ${quoted(behaviorRuleName)}, and there is none of this name`;
      }
      return undefined;
    }
    case 'sizematcher': {
      const { min, max, equal } = condition.configs;
      const isEmpty = (max >= 0 && min > max) || (equal >= 0 && (equal < min || (max >= 0 && equal > max)));
      return isEmpty ? 'no size is within its bounds' : undefined;
    }
    case 'connector': {
      const reasons = condition.conditions.map(inner => whyNever(inner, surroundings));
      return condition.configs.operator === 'OR' && reasons.includes(undefined)
        ? undefined
        : reasons.find(reason => reason !== undefined);
    }
    default:
      return undefined;
  }
}

function whyUnraised(
  condition: ConditionDocument & { readonly type: 'actionmatcher' },
  { step, actions }: Surroundings,
): string | undefined {
  const { occurrence } = condition.configs;
  if (occurrence === 'never') return undefined;
  const isRaised = (action: string) =>
    occurrence === 'currentStep' ? actions.raisedBefore(action, step) : actions.raisedEver(action);
  const missing = awaited(condition).find(action => !isRaised(action));
  if (missing === undefined) return undefined;
  const when = occurrence === 'currentStep' ? ' before these rules begin' : '';
  return `it waits for the action ${quoted(missing)}, which nothing raises${when}`;
}
