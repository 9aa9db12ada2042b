import { type Finding, quoted, warning } from './finding.ts';
import { documentsOf, type LintedAgent, placeIn } from './linted-agent.ts';
import type { Actions } from './raised-actions.ts';

/** What waits for actions that nothing raises, and actions that nothing waits for. */
export function* unheard(agent: LintedAgent, actions: Actions): Generator<Finding> {
  yield* unreachableOutputs(agent, actions);
  yield* idleProperties(agent, actions);
  yield* idleCalls(agent, actions);
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
    for (const call of document.body.httpCalls) {
      const place = placeIn(document, `call ${quoted(call.name)}`);
      // What has parameters is a tool of a model.
      if (call.actions.length === 0 && call.parameters === undefined) {
        yield warning({
          code: 'idle-call',
          place,
          says: 'It is never made: it waits for no action.',
          mend: 'Name the action of a rule in its "actions", or remove it.',
        });
      }
      for (const action of unraised(call.actions, document.last, actions)) {
        yield warning({
          code: 'idle-call',
          place,
          says: `It waits for ${quoted(action)}, which no rule before it raises.`,
          mend: 'Raise the action in a rule, or remove it here.',
        });
      }
    }
  }
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
