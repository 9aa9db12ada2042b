import type { ConversationStep } from '../../store/tables/conversation-steps.ts';
import type { Counters } from '../step/step.ts';
import type { StepStart } from './checkpoint.ts';

/** What one turn changed in its conversation besides adding a step, as far as the step itself does not say it. */
interface TurnChanges {
  /** A member that is missing was or is not there. */
  readonly properties?: Readonly<Record<string, { readonly before?: unknown; readonly after?: unknown }>>;
  /** Names of `Counters.seen` that are new. */
  readonly seen?: readonly string[];
}

/** What a conversation keeps from turn to turn. */
export interface ConversationMemory {
  readonly properties: Readonly<Record<string, unknown>>;
  readonly counters: Counters;
}

export function changesOf(
  before: StepStart,
  after: Readonly<Record<string, unknown>>,
  counters: Counters,
): TurnChanges {
  const properties: Record<string, { before?: unknown; after?: unknown }> = {};
  if (after !== before.properties) {
    for (const name of new Set([...Object.keys(before.properties), ...Object.keys(after)])) {
      if (before.properties[name] === after[name]) continue;
      properties[name] = {
        ...(Object.hasOwn(before.properties, name) && { before: before.properties[name] }),
        ...(Object.hasOwn(after, name) && { after: after[name] }),
      };
    }
  }
  const seenBefore = new Set(before.seen);
  const seen = Object.keys(counters.seen).filter(name => !seenBefore.has(name));
  return {
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(seen.length > 0 && { seen }),
  };
}

/** The memory as it was before the step, or, from there, as it was after it. */
export function takeBack(memory: ConversationMemory, step: ConversationStep): ConversationMemory {
  return change(memory, step, 'before');
}

export function redo(memory: ConversationMemory, step: ConversationStep): ConversationMemory {
  return change(memory, step, 'after');
}

function change(
  memory: ConversationMemory,
  step: ConversationStep,
  to: 'before' | 'after',
): ConversationMemory {
  const { properties: changed = {}, seen = [] } = JSON.parse(step.changes) as TurnChanges;
  const properties = { ...memory.properties };
  for (const [name, values] of Object.entries(changed)) {
    if (Object.hasOwn(values, to)) properties[name] = values[to];
    else delete properties[name];
  }
  const { counters } = memory;
  const by = to === 'after' ? 1 : -1;
  for (const { key, value } of step.data) {
    if (key === 'behavior_rules:success') for (const rule of value as string[]) add(counters.rules, rule, by);
  }
  for (const action of new Set(step.output.actions)) add(counters.actions, action, by);
  for (const name of seen) {
    if (to === 'after') counters.seen[name] = true;
    else delete counters.seen[name];
  }
  return { properties, counters };
}

function add(counts: Record<string, number>, name: string, by: 1 | -1): void {
  const count = (counts[name] ?? 0) + by;
  if (count > 0) counts[name] = count;
  else delete counts[name];
}
