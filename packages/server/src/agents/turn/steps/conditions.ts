import type { ConditionDocument } from '../../document/rules.ts';
import { type DataPath, parseDataPath, parsePath, readDataPath } from '../../language/data-path.ts';
import {
  countNames,
  type Expression,
  matchesSubList,
  parseExpression,
  parseExpressions,
  printExpression,
} from '../../language/expression.ts';
import type { PastStep, StepTools, TurnBudget, TurnMemory } from '../../step/step.ts';
import { askForSkill, type CapableIds, type SkillQuestion } from './capable-agents.ts';
import { timesOf } from './counts.ts';
import { CAPABLE_AGENTS, turnData } from './turn-data.ts';

/** How a condition came out (platform.md 3.3). Only SUCCESS lets a rule fire. */
export type ConditionState = 'SUCCESS' | 'FAIL' | 'NOT_EXECUTED' | 'ERROR';

/** The turn as it was when the rules began; facts are parsed when a condition first asks for them. */
export interface TurnView {
  readonly memory: TurnMemory;
  readonly tools: StepTools;
  readonly now: StepFacts;
  readonly last: StepFacts | undefined;
  /** How the rules of a name came out that others have asked for in this turn. */
  readonly asked: Map<string, ConditionState>;
  readonly capable: readonly CapableIds[];
}

export type Condition = (turn: TurnView) => ConditionState;

/** One turn as the matchers see it. */
export interface StepFacts {
  readonly input: string | undefined;
  readonly expressions: readonly Expression[];
  readonly actions: readonly Expression[];
}

type Matches = (step: StepFacts, budget: TurnBudget) => boolean;

/**
 * What conditions ask about the whole conversation, each question once under its key. The answer for earlier turns is kept in
 * the counters, so a long conversation costs no more than a short one.
 */
export type LookBacks = Map<string, Matches>;

/** What the conditions of a rule set share while they are compiled. */
export interface RuleSet {
  readonly lookBacks: LookBacks;
  /** The conditions of the rules of each name, for those that depend on them. */
  readonly rules: Map<string, Condition[]>;
  /** What has to be asked before the rules begin; each is answered at its place in `TurnView.capable`. */
  readonly skills: SkillQuestion[];
}

export function viewTurn(memory: TurnMemory, tools: StepTools, capable: readonly CapableIds[]): TurnView {
  return {
    memory,
    tools,
    now: factsOf(memory),
    last: memory.last && factsOf(memory.last),
    asked: new Map(),
    capable,
  };
}

export function factsOf({
  input,
  expressions,
  actions,
}: Pick<PastStep, 'input' | 'expressions' | 'actions'>): StepFacts {
  let parsedExpressions: readonly Expression[] | undefined;
  let parsedActions: readonly Expression[] | undefined;
  return {
    input,
    get expressions() {
      parsedExpressions ??= expressions.map(text => parseExpression(text) ?? { name: text, args: [] });
      return parsedExpressions;
    },
    get actions() {
      parsedActions ??= actions.map(name => ({ name, args: [] }));
      return parsedActions;
    },
  };
}

/** What the condition asks about the whole conversation is added to the look-backs of the set. */
export function compileCondition(document: ConditionDocument, set: RuleSet): Condition {
  const { lookBacks } = set;
  const compileAll = (conditions: readonly ConditionDocument[]) =>
    conditions.map(condition => compileCondition(condition, set));
  switch (document.type) {
    case 'inputmatcher': {
      const patterns = parseExpressions(document.configs.expressions)!;
      const matches = charged(patterns, step => step.expressions, matchesInput);
      return inTurns(document.configs.occurrence, matches, keyOf('input', patterns), lookBacks);
    }
    case 'actionmatcher': {
      const patterns = parseExpressions(document.configs.actions)!;
      const matches = charged(
        patterns,
        step => step.actions,
        (list, step) => matchesSubList(list, step.actions),
      );
      return inTurns(document.configs.occurrence, matches, keyOf('action', patterns), lookBacks);
    }
    case 'contextmatcher':
      return contextMatcher(document.configs);
    case 'dynamicvaluematcher':
      return dynamicValueMatcher(document.configs);
    case 'sizematcher':
      return sizeMatcher(document.configs);
    case 'occurrence':
      return occurrence(document.configs);
    case 'dependency':
      return dependency(document.configs.reference, set.rules);
    case 'capabilityMatch':
      return capabilityMatch(document.configs, set.skills);
    case 'contentTypeMatcher':
      return contentTypeMatcher(document.configs);
    case 'deploymentContext':
      return deploymentContext(document.configs);
    case 'connector': {
      const children = compileAll(document.conditions);
      return document.configs.operator === 'AND' ? and(children) : or(children);
    }
    case 'negation':
      return not(compileAll(document.conditions));
  }
}

/** Looking for the patterns among the facts, charged with what it may cost at the most. */
function charged(
  patterns: readonly Expression[],
  factsAmong: (step: StepFacts) => readonly Expression[],
  matches: (patterns: readonly Expression[], step: StepFacts) => boolean,
): Matches {
  const names = countNames(patterns);
  return (step, budget) => {
    budget.work(1 + names * factsAmong(step).length);
    return matches(patterns, step);
  };
}

function keyOf(kind: 'input' | 'action', patterns: readonly Expression[]): string {
  return `${kind} ${patterns.map(printExpression).join(', ')}`;
}

/** The children in order up to the first that is not SUCCESS, whose state it is. */
export function allOf(children: readonly Condition[]): Condition {
  return turn => {
    for (const child of children) {
      const state = child(turn);
      if (state !== 'SUCCESS') return state;
    }
    return 'SUCCESS';
  };
}

/** As `allOf`, but what was not executed counts as failed. */
export function and(children: readonly Condition[]): Condition {
  const all = allOf(children);
  return turn => {
    const state = all(turn);
    return state === 'NOT_EXECUTED' ? 'FAIL' : state;
  };
}

/** The first SUCCESS decides; without one the state is ERROR if a child had one, else FAIL, else NOT_EXECUTED. */
export function or(children: readonly Condition[]): Condition {
  return turn => {
    const states = new Set<ConditionState>();
    for (const child of children) {
      const state = child(turn);
      if (state === 'SUCCESS') return state;
      states.add(state);
    }
    if (states.has('ERROR')) return 'ERROR';
    return states.has('FAIL') ? 'FAIL' : 'NOT_EXECUTED';
  };
}

/** Turns SUCCESS and FAIL of `allOf` round; ERROR and NOT_EXECUTED stay what they are. */
export function not(children: readonly Condition[]): Condition {
  const all = allOf(children);
  return turn => {
    const state = all(turn);
    if (state === 'SUCCESS') return 'FAIL';
    return state === 'FAIL' ? 'SUCCESS' : state;
  };
}

type Occurrence = Extract<ConditionDocument, { type: 'inputmatcher' }>['configs']['occurrence'];

function inTurns(occurrence: Occurrence, matches: Matches, key: string, lookBacks: LookBacks): Condition {
  if (occurrence === 'currentStep') return ({ now, tools }) => stateOf(matches(now, tools.budget));
  if (occurrence === 'lastStep') {
    return ({ last, tools }) => stateOf(last !== undefined && matches(last, tools.budget));
  }
  lookBacks.set(key, matches);
  const wanted = occurrence === 'anyStep';
  return ({ memory, now, tools }) => {
    const inAny = Object.hasOwn(memory.counters.seen, key) || matches(now, tools.budget);
    return stateOf(inAny === wanted);
  };
}

/** The pattern `empty` alone also matches a turn in which nothing was said. */
function matchesInput(patterns: readonly Expression[], { input, expressions }: StepFacts): boolean {
  if (matchesSubList(patterns, expressions)) return true;
  const [first, second] = patterns;
  return first?.name === 'empty' && second === undefined && expressions.length === 0 && !input?.trim();
}

type Configs<Type extends ConditionDocument['type']> = Extract<
  ConditionDocument,
  { readonly type: Type; readonly configs: unknown }
>['configs'];

/** A context of another type than the condition is about never matches, nor does one that is not there. */
function contextMatcher(configs: Configs<'contextmatcher'>): Condition {
  const { contextKey, contextType } = configs;
  const matches = contextTest(configs);
  return ({ memory, tools }) => {
    const has =
      Object.hasOwn(memory.contextTypes, contextKey) && memory.contextTypes[contextKey] === contextType;
    return stateOf(has && matches(memory.context[contextKey], tools.budget));
  };
}

function contextTest(configs: Configs<'contextmatcher'>): (value: unknown, budget: TurnBudget) => boolean {
  switch (configs.contextType) {
    case 'string':
      return value => String(value) === configs.string;
    case 'expressions': {
      const patterns = parseExpressions(configs.expressions!)!;
      const names = countNames(patterns);
      return (value, budget) => {
        const facts = parseExpressions(String(value)) ?? [];
        budget.work(1 + names * facts.length);
        return matchesSubList(patterns, facts);
      };
    }
    case 'object': {
      const path = parsePath(configs.objectKeyPath!) as DataPath;
      const { objectValue } = configs;
      return value => {
        const found = readDataPath(value, path);
        if (found === undefined || found === null) return false;
        return objectValue === undefined || textOf(found) === objectValue;
      };
    }
  }
}

/** Characters of a text that are looked through in one step of work. */
const CHARACTERS_A_STEP = 100;

function dynamicValueMatcher({ valuePath, equals, contains }: Configs<'dynamicvaluematcher'>): Condition {
  const path = parseDataPath(valuePath) as DataPath;
  return ({ memory, tools }) => {
    const value = readDataPath(turnData(memory, tools), path);
    if (equals !== undefined) return stateOf(value !== undefined && textOf(value) === equals);
    if (contains !== undefined) {
      tools.budget.work(1 + (typeof value === 'string' ? value.length / CHARACTERS_A_STEP : sizeOf(value)));
      return stateOf(holdsPart(value, contains));
    }
    return stateOf(value !== undefined && value !== null && value !== false && value !== '');
  };
}

/** A text holds a text within it, a list an entry, an object a member of that name. */
function holdsPart(value: unknown, part: string): boolean {
  if (typeof value === 'string') return value.includes(part);
  if (Array.isArray(value)) return value.some(entry => textOf(entry) === part);
  return typeof value === 'object' && value !== null && Object.hasOwn(value, part);
}

/** What a plain value is compared as; a list or an object is equal to no text. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'object' ? undefined : String(value);
}

/** Of several rules of the name one that holds will do. What others found in this turn is not found out again. */
function dependency(reference: string, rules: RuleSet['rules']): Condition {
  return turn => {
    let state = turn.asked.get(reference);
    if (state === undefined) {
      state = or(rules.get(reference)!)(turn);
      // Whether the rule ran at all is nothing to whoever asks if it holds.
      if (state === 'NOT_EXECUTED') state = 'FAIL';
      turn.asked.set(reference, state);
    }
    return state;
  };
}

/** The agents that were found are remembered where enough were. */
function capabilityMatch(configs: Configs<'capabilityMatch'>, skills: SkillQuestion[]): Condition {
  const place = skills.push(askForSkill(configs)) - 1;
  return ({ memory, capable }) => {
    const found = capable[place];
    if (found === undefined) return 'ERROR';
    if (found.length < Math.max(configs.minResults, 1)) return 'FAIL';
    memory.remember(CAPABLE_AGENTS, found);
    return 'SUCCESS';
  };
}

function contentTypeMatcher({ mimeType, minCount }: Configs<'contentTypeMatcher'>): Condition {
  const [type, subtype] = mimeType.toLowerCase().split('/') as [string, string];
  const matches = (contentType: string) => {
    const [is, ...rest] = contentType.split(';', 1)[0]!.trim().toLowerCase().split('/');
    return (type === '*' || type === is) && (subtype === '*' || subtype === rest.join('/'));
  };
  return ({ memory, tools }) => {
    tools.budget.work(1 + memory.attachments.length);
    const found = memory.attachments.filter(({ contentType }) => matches(contentType)).length;
    return stateOf(found >= minCount);
  };
}

/** Under this name the context says what kinds of agent this one counts as: one word, or a list. */
const AGENT_TAGS = 'agentTags';

function deploymentContext({ when, tagMatches }: Configs<'deploymentContext'>): Condition {
  const isAt = (env: string) => when === undefined || when.toLowerCase() === env.toLowerCase();
  const hasTag = (tags: unknown) => {
    if (tagMatches === undefined) return true;
    return [tags].flat().some(tag => textOf(tag)?.toLowerCase() === tagMatches.toLowerCase());
  };
  return ({ memory, tools }) => {
    const tags = Object.hasOwn(memory.context, AGENT_TAGS) ? memory.context[AGENT_TAGS] : undefined;
    tools.budget.work(Array.isArray(tags) ? 1 + tags.length : 1);
    return stateOf(isAt(tools.deploymentEnv) && hasTag(tags));
  };
}

function occurrence(configs: Configs<'occurrence'>): Condition {
  const { behaviorRuleName, minTimesOccurred, maxTimesOccurred } = configs;
  return ({ memory: { counters } }) => {
    const times = timesOf(counters.rules, behaviorRuleName);
    return stateOf(times >= minTimesOccurred && (maxTimesOccurred === -1 || times <= maxTimesOccurred));
  };
}

function sizeMatcher(configs: Configs<'sizematcher'>): Condition {
  const { valuePath, min, max, equal } = configs;
  if (min === -1 && max === -1 && equal === -1) return () => 'NOT_EXECUTED';
  const path = parseDataPath(valuePath) as DataPath;
  return ({ memory, tools }) => {
    const value = readDataPath(turnData(memory, tools), path);
    const size = sizeOf(value);
    // Counting the members of an object takes as long as it has members.
    tools.budget.work(typeof value === 'object' ? 1 + size : 1);
    return stateOf(size >= min && (max === -1 || size <= max) && (equal === -1 || size === equal));
  };
}

/** Nothing is 0; a list or object its size; a number, also as text, itself; else the length of the text. */
function sizeOf(value: unknown): number {
  if (value === undefined || value === null) return 0;
  if (typeof value === 'number') return value;
  if (Array.isArray(value)) return value.length;
  if (typeof value === 'object') return Object.keys(value).length;
  const text = String(value);
  const number = Number(text);
  return text.trim() === '' || Number.isNaN(number) ? text.length : number;
}

function stateOf(holds: boolean): ConditionState {
  return holds ? 'SUCCESS' : 'FAIL';
}
