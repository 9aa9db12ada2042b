import type { McpcallsDocument } from '../document/mcpcalls.ts';
import { type Finding, quoted, warning } from './finding.ts';
import { documentsOf, type LintedAgent, type PlacedDocument, placeIn } from './linted-agent.ts';
import type { Actions } from './raised-actions.ts';

/** What waits for actions that nothing raises, and actions that nothing waits for. */
export function* unheard(agent: LintedAgent, actions: Actions): Generator<Finding> {
  yield* unreachableOutputs(agent, actions);
  yield* idleProperties(agent, actions);
  yield* idleCalls(agent, actions);
  yield* idleTasks(agent, actions);
  yield* unheardActions(agent, actions);
}

function* unreachableOutputs(agent: LintedAgent, actions: Actions): Generator<Finding> {
  for (const document of documentsOf(agent, 'output')) {
    const missing = document.body.outputSet
      .map(({ action }) => action)
      .filter(action => !actions.raisedBefore(action, document.last));
    for (const action of new Set(missing)) {
      yield warning({
        code: 'unreachable-output',
        place: placeIn(document, `action ${quoted(action)}`),
        says: `It is never said: no rule before it raises ${quoted(action)}.`,
        mend: 'Raise the action in a rule, or remove the entry.',
      });
    }
  }
}

function* idleProperties(agent: LintedAgent, actions: Actions): Generator<Finding> {
  for (const document of documentsOf(agent, 'property')) {
    for (const [index, entry] of document.body.setOnActions.entries()) {
      for (const action of unraised(entry.actions, document.last, actions)) {
        yield warning({
          code: 'idle-property',
          place: placeIn(document, `entry ${index + 1} of setOnActions`),
          says: `It waits for ${quoted(action)}, which no rule before it raises.`,
          mend: 'Raise the action in a rule, or remove it here.',
        });
      }
    }
  }
}

function* idleCalls(agent: LintedAgent, actions: Actions): Generator<Finding> {
  for (const document of documentsOf(agent, 'httpcalls')) {
    // What has parameters is a tool of a model.
    for (const call of document.body.httpCalls)
      yield* idleCall(document, { ...call, isForAModel: call.parameters !== undefined }, actions);
  }
  for (const document of documentsOf(agent, 'mcpcalls')) {
    for (const call of document.body.mcpCalls) {
      yield* idleCall(document, { ...call, isForAModel: false }, actions);
      const list = leftOutBy(document.body, call.toolName);
      if (list === undefined) continue;
      yield warning({
        code: 'idle-call',
        place: placeIn(document, `call ${quoted(call.name)}`),
        says: `It is never made: ${list} leaves out the tool ${quoted(call.toolName)}.`,
        mend: `Correct ${list}, or remove the call.`,
      });
    }
  }
}

function* idleTasks(agent: LintedAgent, actions: Actions): Generator<Finding> {
  for (const document of documentsOf(agent, 'llm')) {
    for (const task of document.body.tasks) {
      for (const action of unraised(task.actions, document.last, actions)) {
        yield warning({
          code: 'idle-task',
          place: placeIn(document, `task ${quoted(task.id)}`),
          says: `It waits for ${quoted(action)}, which no rule before it raises.`,
          mend: 'Raise the action in a rule, or remove it here.',
        });
      }
    }
  }
}

function* idleCall(
  document: PlacedDocument,
  {
    name,
    actions: awaitedActions,
    isForAModel,
  }: { readonly name: string; readonly actions: readonly string[]; readonly isForAModel: boolean },
  actions: Actions,
): Generator<Finding> {
  const place = placeIn(document, `call ${quoted(name)}`);
  if (awaitedActions.length === 0 && !isForAModel) {
    yield warning({
      code: 'idle-call',
      place,
      says: 'It is never made: it waits for no action.',
      mend: 'Name the action of a rule in its "actions", or remove it.',
    });
  }
  for (const action of unraised(awaitedActions, document.last, actions)) {
    yield warning({
      code: 'idle-call',
      place,
      says: `It waits for ${quoted(action)}, which no rule before it raises.`,
      mend: 'Raise the action in a rule, or remove it here.',
    });
  }
}

/** The two tools that read resources are in no list (E-86). */
const OF_RESOURCES = /_(?:list_resources|read_resource)$/;

function leftOutBy(
  { toolsWhitelist = [], toolsBlacklist = [], exposeResources }: McpcallsDocument,
  tool: string,
): string | undefined {
  if (exposeResources && OF_RESOURCES.test(tool)) return undefined;
  if (toolsBlacklist.includes(tool)) return 'toolsBlacklist';
  return toolsWhitelist.length === 0 || toolsWhitelist.includes(tool) ? undefined : 'toolsWhitelist';
}

function unraised(awaitedActions: readonly string[], step: number, actions: Actions): string[] {
  return awaitedActions.filter(action => action !== '*' && !actions.raisedBefore(action, step));
}

function* unheardActions(agent: LintedAgent, actions: Actions): Generator<Finding> {
  for (const document of documentsOf(agent, 'rules')) {
    for (const group of document.body.behaviorGroups) {
      for (const rule of group.rules) {
        for (const action of new Set(rule.actions)) {
          if (actions.heardAfter(action, document.first)) continue;
          yield warning({
            code: 'unheard-action',
            place: placeIn(document, `group ${quoted(group.name)}`, `rule ${quoted(rule.name)}`),
            says: `It raises ${quoted(action)}, and nothing after it hears that.`,
            mend: 'Add an entry for the action to the output, or remove it here.',
          });
        }
      }
    }
  }
}
