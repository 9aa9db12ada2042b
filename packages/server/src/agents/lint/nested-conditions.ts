import type { ConditionDocument, RulesDocument } from '../document/rules.ts';

/** Every condition of the rules, the nested ones too. */
export function* conditionsOf({ behaviorGroups }: RulesDocument): Generator<ConditionDocument> {
  for (const { rules } of behaviorGroups) for (const { conditions } of rules) yield* withNested(conditions);
}

function* withNested(conditions: readonly ConditionDocument[]): Generator<ConditionDocument> {
  for (const condition of conditions) {
    yield condition;
    if (condition.type === 'connector' || condition.type === 'negation')
      yield* withNested(condition.conditions);
  }
}
