import type { ConditionDocument } from '../document/rules.ts';
import { documentsOf, type LintedAgent } from './linted-agent.ts';
import { conditionsOf } from './nested-conditions.ts';

/** Which actions there can be in a turn, and who hears them. */
export interface Actions {
  /** Can the action be there when the step runs? */
  raisedBefore(action: string, step: number): boolean;
  /** Can any turn have it? */
  raisedEver(action: string): boolean;
  /** Does anything act on it that is raised by this step? */
  heardAfter(action: string, step: number): boolean;
}

/** Raised by the turn itself when it greets. */
const FROM_THE_TURN = ['CONVERSATION_START'];
/** Heard by the turn itself. */
const TO_THE_TURN = ['CONVERSATION_END', 'STOP_CONVERSATION', 'PAUSE_CONVERSATION'];

export function actionsOf(agent: LintedAgent): Actions {
  const rules = documentsOf(agent, 'rules');
  const raised = rules.flatMap(({ first, body }) =>
    body.behaviorGroups
      .flatMap(group => group.rules)
      .flatMap(rule => rule.actions.map(action => ({ action, step: first }))),
  );
  const firstRaised = new Map<string, number>(FROM_THE_TURN.map(action => [action, -1]));
  for (const { action, step } of raised) {
    firstRaised.set(action, Math.min(step, firstRaised.get(action) ?? step));
  }
  // Whatever is said is an action then.
  const openFrom = Math.min(
    ...rules.filter(({ body }) => body.expressionsAsActions).map(({ first }) => first),
  );
  const lastHeard = lastHearings(agent);
  const isRead = templatesRead(agent, 'actions');
  return {
    raisedBefore: (action, step) => openFrom < step || (firstRaised.get(action) ?? step) < step,
    raisedEver: action => openFrom < Number.POSITIVE_INFINITY || firstRaised.has(action),
    heardAfter: (action, step) =>
      isRead || TO_THE_TURN.includes(action) || (lastHeard.get(action) ?? -1) > step,
  };
}

/** The last step that listens to each action; infinite where a later turn asks for it. */
function lastHearings(agent: LintedAgent): ReadonlyMap<string, number> {
  const heard = new Map<string, number>();
  const hear = (action: string, step: number) => heard.set(action, Math.max(step, heard.get(action) ?? step));
  for (const { last: step, body } of documentsOf(agent, 'output')) {
    for (const { action } of body.outputSet) hear(action, step);
  }
  for (const { last: step, body } of documentsOf(agent, 'property')) {
    for (const action of body.setOnActions.flatMap(({ actions }) => actions)) hear(action, step);
  }
  for (const { last: step, body } of documentsOf(agent, 'httpcalls')) {
    for (const action of body.httpCalls.flatMap(({ actions }) => actions)) hear(action, step);
  }
  for (const { last: step, body } of documentsOf(agent, 'mcpcalls')) {
    for (const action of body.mcpCalls.flatMap(({ actions }) => actions)) hear(action, step);
  }
  for (const { last: step, body } of documentsOf(agent, 'llm')) {
    for (const action of body.tasks.flatMap(({ actions }) => actions)) hear(action, step);
  }
  for (const { last: step, body } of documentsOf(agent, 'rules')) {
    for (const condition of conditionsOf(body)) {
      if (condition.type !== 'actionmatcher') continue;
      const later = condition.configs.occurrence !== 'currentStep';
      for (const action of awaited(condition)) hear(action, later ? Number.POSITIVE_INFINITY : step);
    }
  }
  return heard;
}

/** The actions a condition asks for by name. */
export function awaited(condition: ConditionDocument & { readonly type: 'actionmatcher' }): string[] {
  return condition.configs.actions
    .split(',')
    .map(action => action.trim())
    .filter(action => action !== '*');
}

/** Does any text look into the turn's memory for it? */
export function templatesRead(agent: LintedAgent, what: string): boolean {
  const reads = new RegExp(`"[^"]*\\bmemory\\b[^"]*\\b(?:${what})\\b`);
  return agent.documents.some(
    ({ ref, body }) => ref.type !== 'dictionary' && reads.test(JSON.stringify(body)),
  );
}
