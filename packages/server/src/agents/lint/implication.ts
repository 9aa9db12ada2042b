import { canonicalJson } from '../../kernel/json.ts';
import type { ConditionDocument } from '../document/rules.ts';
import { type Expression, parseExpressions } from '../language/expression.ts';

// What can be proved about conditions without a turn. Where nothing can be proved the answer is "no".

/** What one rule asks for, all of which must hold: nested ANDs and the rules it depends on are part of it. */
export type Conjunction = readonly ConditionDocument[];

type Rules = ReadonlyMap<string, readonly ConditionDocument[]>;

/** More than a person writes; what is behind it is not known, so less is proved. */
const MAX_CONJUNCTION = 50;

/** `rules` has the conditions of the rules others can depend on, where the name is one rule's. */
export function conjunctionOf(conditions: readonly ConditionDocument[], rules: Rules): ConditionDocument[] {
  const all: ConditionDocument[] = [];
  const waiting = [...conditions];
  const asked = new Set<string>();
  // The list grows while it is walked.
  for (const condition of waiting) {
    if (all.length === MAX_CONJUNCTION) break;
    if (condition.type === 'connector' && condition.configs.operator === 'AND') {
      waiting.push(...condition.conditions);
      continue;
    }
    all.push(condition);
    if (condition.type !== 'dependency' || asked.has(condition.configs.reference)) continue;
    asked.add(condition.configs.reference);
    waiting.push(...(rules.get(condition.configs.reference) ?? []));
  }
  return all;
}

const keys = new WeakMap<ConditionDocument, string>();

/** The same for conditions that say the same. */
function keyOf(condition: ConditionDocument): string {
  let key = keys.get(condition);
  if (key === undefined) {
    key = canonicalJson(condition);
    keys.set(condition, key);
  }
  return key;
}

/** Whenever all of these hold, does the condition hold? */
export function implies(known: Conjunction, wanted: ConditionDocument): boolean {
  const key = keyOf(wanted);
  if (known.some(condition => keyOf(condition) === key)) return true;
  switch (wanted.type) {
    case 'connector': {
      const { conditions, configs } = wanted;
      return configs.operator === 'AND'
        ? conditions.every(condition => implies(known, condition))
        : conditions.some(condition => implies(known, condition));
    }
    case 'inputmatcher':
    case 'actionmatcher':
      return known.some(condition => matcherImplies(condition, wanted));
    case 'dynamicvaluematcher': {
      const { valuePath, equals, contains } = wanted.configs;
      const asksIfThere = equals === undefined && contains === undefined;
      return (
        asksIfThere &&
        known.some(one => one.type === 'dynamicvaluematcher' && one.configs.valuePath === valuePath)
      );
    }
    default:
      return false;
  }
}

type Matcher = ConditionDocument & { readonly type: 'inputmatcher' | 'actionmatcher' };

function matcherImplies(known: ConditionDocument, wanted: Matcher): boolean {
  if (known.type !== wanted.type) return false;
  const { occurrence: from } = known.configs;
  const { occurrence: to } = wanted.configs;
  if (from === 'never' || to === 'never' || (from !== to && to !== 'anyStep')) return false;
  const special = patternsOf(known);
  // Alone it also matches a turn in which nothing was said.
  if (special.length === 1 && special[0]!.name === 'empty') return false;
  return isPart(patternsOf(wanted), special);
}

/** When the general patterns match wherever the special ones do. */
function isPart(general: readonly Expression[], special: readonly Expression[]): boolean {
  for (let start = 0; start + general.length <= special.length; start++) {
    if (general.every((pattern, index) => generalises(pattern, special[start + index]!))) return true;
  }
  return false;
}

const parsed = new WeakMap<Matcher, readonly Expression[]>();

function patternsOf(matcher: Matcher): readonly Expression[] {
  let patterns = parsed.get(matcher);
  if (patterns === undefined) {
    const text = matcher.type === 'inputmatcher' ? matcher.configs.expressions : matcher.configs.actions;
    patterns = parseExpressions(text) ?? [];
    parsed.set(matcher, patterns);
  }
  return patterns;
}

const isAny = (expression: Expression | undefined) =>
  expression?.name === '*' && expression.args.length === 0;

function generalises(general: Expression, special: Expression): boolean {
  if (isAny(general)) return true;
  if (general.name !== special.name) return false;
  const isOpen = isAny(general.args.at(-1));
  const fixed = general.args.length - (isOpen ? 1 : 0);
  const specialFixed = special.args.length - (isAny(special.args.at(-1)) ? 1 : 0);
  const specialIsOpen = specialFixed < special.args.length;
  if (specialIsOpen && !isOpen) return false;
  if (isOpen ? specialFixed < fixed : special.args.length !== fixed) return false;
  return general.args.slice(0, fixed).every((arg, index) => generalises(arg, special.args[index]!));
}

/** Why the conditions cannot hold together, as a phrase; `undefined` where that is not proved. */
export function contradictionIn(all: Conjunction): string | undefined {
  for (const condition of all) {
    if (condition.type === 'negation' && condition.conditions.every(inner => implies(all, inner))) {
      return 'it asks for something and for its opposite';
    }
  }
  for (const [index, one] of all.entries()) {
    for (const other of all.slice(index + 1)) {
      const why = excludes(one, other) ?? excludes(other, one);
      if (why !== undefined) return why;
    }
  }
  return undefined;
}

function excludes(one: ConditionDocument, other: ConditionDocument): string | undefined {
  if (one.type === 'inputmatcher' && other.type === 'inputmatcher') return excludedByNever(one, other);
  if (one.type === 'actionmatcher' && other.type === 'actionmatcher') return excludedByNever(one, other);
  if (one.type === 'dynamicvaluematcher' && other.type === 'dynamicvaluematcher') {
    const [a, b] = [one.configs, other.configs];
    const differ = a.equals !== undefined && b.equals !== undefined && a.equals !== b.equals;
    if (a.valuePath === b.valuePath && differ) return `${a.valuePath} cannot be two values`;
  }
  if (one.type === 'contextmatcher' && other.type === 'contextmatcher') {
    const [a, b] = [one.configs, other.configs];
    if (a.contextKey !== b.contextKey) return undefined;
    if (a.contextType !== b.contextType) return `the context ${a.contextKey} cannot be of two types`;
    if (a.contextType === 'string' && a.string !== b.string) {
      return `the context ${a.contextKey} cannot be two values`;
    }
  }
  if (one.type === 'deploymentContext' && other.type === 'deploymentContext') {
    const [a, b] = [one.configs.when, other.configs.when];
    if (a !== undefined && b !== undefined && a !== b) return 'an installation is of one kind';
  }
  return undefined;
}

function excludedByNever<M extends Matcher>(never: M, some: M): string | undefined {
  if (never.configs.occurrence !== 'never' || some.configs.occurrence === 'never') return undefined;
  const wanted = { ...never, configs: { ...never.configs, occurrence: 'anyStep' } } as Matcher;
  return implies([some], wanted) ? 'it asks for something that was never there' : undefined;
}
