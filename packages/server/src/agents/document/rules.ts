import { z } from 'zod';
import { parseDataPath } from '../language/data-path.ts';
import { parseExpressions } from '../language/expression.ts';
import type { DocumentSchema } from './document-type.ts';
import { actionField, expressionsField, nameField } from './fields.ts';

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
      .refine(text => parseExpressions(text) !== undefined, 'is too long'),
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
  actions: z.array(actionField).default([]),
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

/** When to raise which action (platform.md 3.3). `behaviorRules` of a group is accepted and stored as `rules`. */
export const rulesDocument = {
  type: 'rules',
  body: z.strictObject({
    appendActions: z.boolean().default(true),
    expressionsAsActions: z.boolean().default(false),
    behaviorGroups: z.array(group),
  }),
} as const satisfies DocumentSchema;

export type RulesDocument = z.output<typeof rulesDocument.body>;
