import type { ServerDefinition } from './definition.ts';

/** The definition, and all that is in it, made immutable. */
export function frozen(definition: ServerDefinition): ServerDefinition {
  return deepFreeze(definition);
}

function deepFreeze<T extends object>(value: T): T {
  for (const member of Object.values(value)) {
    if (typeof member === 'object' && member !== null) deepFreeze(member);
  }
  return Object.freeze(value);
}
