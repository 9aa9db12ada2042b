import type { ConditionDocument } from '../../document/rules.ts';
import { type DataPath, parseDataPath, readDataPath } from '../../language/data-path.ts';
import {
  countNames,
  type Expression,
  matchesSubList,
  parseExpression,
  parseExpressions,
  printExpression,
} from '../../language/expression.ts';
import type { PastStep, StepTools, TurnBudget, TurnMemory } from '../../step/step.ts';
import { timesOf } from './counts.ts';
import { turnData } from './turn-data.ts';

/** How a condition came out (platform.md 3.3). Only SUCCESS lets a rule fire. */
export type ConditionState = 'SUCCESS' | 'FAIL' | 'NOT_EXECUTED' | 'ERROR';

/** The turn as it was when the rules began; facts are parsed when a condition first asks for them. */
export interface TurnView {
  readonly memory: TurnMemory;
  readonly tools: StepTools;
  readonly now: StepFacts;
  readonly last: StepFacts | undefined;
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

export function viewTurn(memory: TurnMemory, tools: StepTools): TurnView {
  return { memory, tools, now: factsOf(memory), last: memory.last && factsOf(memory.last) };
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

/** What the condition asks about the whole conversation is added to `lookBacks`. */
export function compileCondition(document: ConditionDocument, lookBacks: LookBacks): Condition {
  const compileAll = (conditions: readonly ConditionDocument[]) =>
    conditions.map(condition => compileCondition(condition, lookBacks));
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
    case 'occurrence':
      return occurrence(document.configs);
    case 'sizematcher':
      return sizeMatcher(document.configs);
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

function occurrence(configs: Extract<ConditionDocument, { type: 'occurrence' }>['configs']): Condition {
  const { behaviorRuleName, minTimesOccurred, maxTimesOccurred } = configs;
  return ({ memory: { counters } }) => {
    const times = timesOf(counters.rules, behaviorRuleName);
    return stateOf(times >= minTimesOccurred && (maxTimesOccurred === -1 || times <= maxTimesOccurred));
  };
}

function sizeMatcher(configs: Extract<ConditionDocument, { type: 'sizematcher' }>['configs']): Condition {
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
