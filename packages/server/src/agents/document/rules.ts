import { z } from 'zod';
import { parseDataPath } from '../language/data-path.ts';
import { parseExpressions } from '../language/expression.ts';
import type { DocumentSchema } from './document-type.ts';
import {
  actionField,
  expressionsField,
  listOf,
  MAX_LIST_CHARACTERS,
  MAX_LIST_NAMES,
  nameField,
  tooMany,
} from './fields.ts';

const MAX_GROUPS = 200;
/** Of all groups together. */
const MAX_RULES = 2_000;
/** Of all rules together, the nested ones too. */
const MAX_CONDITIONS = 10_000;
/** Each is kept with every conversation. */
const MAX_LOOK_BACKS = 100;
const MAX_ACTIONS = 20;

/** Where a matcher looks: this turn, the one before, all of them, or "in none of them". */
const occurrence = z.enum(['currentStep', 'lastStep', 'anyStep', 'never']).default('currentStep');

/** Stored by other platforms as text. */
const wholeNumber = z.preprocess(
  value => (typeof value === 'string' && /^-?\d{1,9}$/.test(value) ? Number(value) : value),
  z.int().min(-1, 'must be a whole number, or -1 for no bound'),
);

const inputMatcher = z.strictObject({
  type: z.literal('inputmatcher'),
  configs: z.strictObject({ expressions: expressionsField, occurrence }),
});

const actionMatcher = z.strictObject({
  type: z.literal('actionmatcher'),
  configs: z.strictObject({
    actions: z
      .string()
      .refine(
        text => text.split(',').every(name => name.trim() === '*' || actionField.safeParse(name).success),
        'must be a comma list of action names or "*", without PAUSE_CONVERSATION, which is not supported',
      )
      .max(MAX_LIST_CHARACTERS, tooMany(MAX_LIST_CHARACTERS, 'characters'))
      .refine(
        text => (parseExpressions(text)?.length ?? 0) <= MAX_LIST_NAMES,
        tooMany(MAX_LIST_NAMES, 'actions'),
      ),
    occurrence,
  }),
});

const occurrenceCondition = z.strictObject({
  type: z.literal('occurrence'),
  configs: z
    .strictObject({
      behaviorRuleName: nameField,
      minTimesOccurred: wholeNumber.default(-1),
      maxTimesOccurred: wholeNumber.default(-1),
    })
    .refine(
      ({ minTimesOccurred, maxTimesOccurred }) => minTimesOccurred >= 0 || maxTimesOccurred >= 0,
      'must give minTimesOccurred or maxTimesOccurred',
    ),
});

const sizeMatcher = z.strictObject({
  type: z.literal('sizematcher'),
  configs: z.strictObject({
    valuePath: z.string().superRefine((text, context) => {
      const path = parseDataPath(text);
      if (typeof path === 'string') context.addIssue(path);
    }),
    min: wholeNumber.default(-1),
    max: wholeNumber.default(-1),
    equal: wholeNumber.default(-1),
  }),
});

type LeafCondition = z.output<
  typeof inputMatcher | typeof actionMatcher | typeof occurrenceCondition | typeof sizeMatcher
>;

export type ConditionDocument =
  | LeafCondition
  | {
      readonly type: 'connector';
      readonly configs: { readonly operator: 'AND' | 'OR' };
      readonly conditions: readonly ConditionDocument[];
    }
  | { readonly type: 'negation'; readonly conditions: readonly ConditionDocument[] };

const children: z.ZodType<ConditionDocument[]> = z.lazy(() =>
  z.array(condition).min(1, 'must hold at least one condition'),
);

const connector = z.strictObject({
  type: z.literal('connector'),
  configs: z.strictObject({ operator: z.enum(['AND', 'OR']) }),
  conditions: children,
});

const negation = z.strictObject({
  type: z.literal('negation'),
  configs: z.strictObject({}).optional(),
  conditions: children,
});

const condition = z.discriminatedUnion(
  'type',
  [inputMatcher, actionMatcher, occurrenceCondition, sizeMatcher, connector, negation],
  {
    error: issue =>
      issue.code === 'invalid_union'
        ? 'supported conditions are inputmatcher, actionmatcher, occurrence, sizematcher, connector and negation'
        : undefined,
  },
);

const rule = z.strictObject({
  name: nameField,
  actions: listOf(actionField, MAX_ACTIONS).default([]),
  /** All must hold; none always holds. */
  conditions: z.array(condition).default([]),
});

const group = z
  .strictObject({
    name: nameField,
    executionStrategy: z.enum(['executeUntilFirstSuccess', 'executeAll']).default('executeUntilFirstSuccess'),
    rules: z.array(rule).optional(),
    behaviorRules: z.array(rule).optional(),
  })
  .refine(
    ({ rules, behaviorRules }) => (rules === undefined) !== (behaviorRules === undefined),
    'must hold either "rules" or "behaviorRules"',
  )
  .transform(({ rules, behaviorRules, ...rest }) => ({ ...rest, rules: rules ?? behaviorRules ?? [] }));

function countConditions(conditions: readonly ConditionDocument[]): { all: number; lookBacks: number } {
  const counted = { all: 0, lookBacks: 0 };
  const waiting = [...conditions];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    counted.all++;
    if (next.type === 'connector' || next.type === 'negation') waiting.push(...next.conditions);
    else if ('occurrence' in next.configs && /^(anyStep|never)$/.test(next.configs.occurrence))
      counted.lookBacks++;
  }
  return counted;
}

/** When to raise which action (platform.md 3.3). `behaviorRules` of a group is accepted and stored as `rules`. */
export const rulesDocument = {
  type: 'rules',
  body: z.strictObject({
    appendActions: z.boolean().default(true),
    expressionsAsActions: z.boolean().default(false),
    // A transform runs when the groups are right in themselves.
    behaviorGroups: listOf(group, MAX_GROUPS).transform((groups, context) => {
      const rules = groups.flatMap(({ rules }) => rules);
      const conditions = countConditions(rules.flatMap(({ conditions }) => conditions));
      if (rules.length > MAX_RULES) context.addIssue(tooMany(MAX_RULES, 'rules together'));
      if (conditions.all > MAX_CONDITIONS) context.addIssue(tooMany(MAX_CONDITIONS, 'conditions together'));
      if (conditions.lookBacks > MAX_LOOK_BACKS) {
        context.addIssue(tooMany(MAX_LOOK_BACKS, 'conditions with anyStep or never together'));
      }
      return groups;
    }),
  }),
} as const satisfies DocumentSchema;

export type RulesDocument = z.output<typeof rulesDocument.body>;
