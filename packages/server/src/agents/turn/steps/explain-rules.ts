import type { ExplainedCondition, ExplainedRule } from '@patchbay/contract/operations/trace';
import type { ConditionDocument, RulesDocument } from '../../document/rules.ts';
import { type DataPath, parseDataPath, readDataPath } from '../../language/data-path.ts';
import type { StepTools, TurnMemory } from '../../step/step.ts';
import { findCapable } from './capable-agents.ts';
import {
  allOf,
  type Condition,
  compileCondition,
  type RuleSet,
  type TurnView,
  viewTurn,
} from './conditions.ts';
import { timesOf } from './counts.ts';
import { createTemplateCache } from './template.ts';
import { turnData } from './turn-data.ts';

const MAX_RULES = 500;
const CACHED_TEMPLATES = 100;
const MAX_TEXT = 300;

interface Node {
  readonly document: ConditionDocument;
  readonly holds: Condition;
  readonly inside: readonly Node[];
}

interface Rule {
  readonly group: string;
  /** Of its group: two may have the same name. */
  readonly place: number;
  readonly firstOnly: boolean;
  readonly name: string;
  readonly actions: readonly string[];
  readonly conditions: readonly Node[];
  readonly holds: Condition;
}

/**
 * What the rules of a document come to in a turn, and why: each rule that is looked at, in order, with every condition and what
 * it met. Changes nothing; it is for whoever asks, and costs what the rules cost once more.
 */
export async function explainRules(
  document: RulesDocument,
  memory: TurnMemory,
  tools: StepTools,
): Promise<ExplainedRule[]> {
  const set: RuleSet = { lookBacks: new Map(), rules: new Map(), skills: [] };
  const rules = compileAll(document, set);
  const capable = await findCapable(set.skills, createTemplateCache(CACHED_TEMPLATES), memory, tools);
  const turn = viewTurn(readOnly(memory), tools, capable);
  const explained: ExplainedRule[] = [];
  let decided = -1;
  for (const { group, place, firstOnly, name, actions, conditions, holds } of rules) {
    if (explained.length === MAX_RULES) break;
    if (place === decided) continue;
    const fired = holds(turn) === 'SUCCESS';
    explained.push({
      ...{ group, rule: name, fired },
      actions: fired ? [...actions] : [],
      conditions: conditions.flatMap(node => [...explain(node, turn, 0)]),
    });
    if (fired && firstOnly) decided = place;
  }
  return explained;
}

function compileAll({ behaviorGroups }: RulesDocument, set: RuleSet): Rule[] {
  const compile = (document: ConditionDocument): Node => ({
    document,
    holds: compileCondition(document, set),
    inside: 'conditions' in document ? document.conditions.map(compile) : [],
  });
  return behaviorGroups.flatMap(({ name: group, executionStrategy, rules }, place) =>
    rules.map(({ name, actions, conditions }) => {
      const nodes = conditions.map(compile);
      const holds = allOf(nodes.map(node => node.holds));
      set.rules.set(name, [...(set.rules.get(name) ?? []), holds]);
      return {
        ...{ group, place, firstOnly: executionStrategy === 'executeUntilFirstSuccess' },
        ...{ name, actions, conditions: nodes, holds },
      };
    }),
  );
}

/** Conditions may remember what they found; what is only explained is not remembered. */
function readOnly(memory: TurnMemory): TurnMemory {
  return Object.create(memory, { remember: { value: () => {} } });
}

function* explain(
  { document, holds, inside }: Node,
  turn: TurnView,
  depth: number,
): Generator<ExplainedCondition> {
  const found = foundBy(document, turn);
  yield {
    depth,
    type: document.type,
    state: holds(turn),
    asked: cut(askedBy(document)),
    ...(found !== undefined && { found: cut(found) }),
  };
  for (const node of inside) yield* explain(node, turn, depth + 1);
}

/** The options of a condition that say something, as text: `expressions drink(*), occurrence lastStep`. */
function askedBy(condition: ConditionDocument): string {
  if (!('configs' in condition)) return '';
  return Object.entries(condition.configs)
    .filter(([, value]) => value !== undefined && value !== -1 && value !== 'currentStep')
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
}

/** What the turn has where the condition looks; `undefined` where that is nothing one could show. */
function foundBy(condition: ConditionDocument, { memory, tools }: TurnView): string | undefined {
  switch (condition.type) {
    case 'inputmatcher':
    case 'actionmatcher': {
      const field = condition.type === 'inputmatcher' ? 'expressions' : 'actions';
      const { occurrence } = condition.configs;
      if (occurrence === 'lastStep') return memory.last?.[field].join(', ') ?? '';
      return memory[field].join(', ');
    }
    case 'dynamicvaluematcher':
    case 'sizematcher': {
      const path = parseDataPath(condition.configs.valuePath) as DataPath;
      return shown(readDataPath(turnData(memory, tools), path));
    }
    case 'contextmatcher': {
      const { contextKey } = condition.configs;
      return Object.hasOwn(memory.context, contextKey) ? shown(memory.context[contextKey]) : 'nothing';
    }
    case 'contentTypeMatcher':
      return memory.attachments.map(({ contentType }) => contentType).join(', ');
    case 'occurrence':
      return String(timesOf(memory.counters.rules, condition.configs.behaviorRuleName));
    case 'deploymentContext':
      return tools.deploymentEnv;
    default:
      return undefined;
  }
}

function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function cut(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}...` : text;
}
