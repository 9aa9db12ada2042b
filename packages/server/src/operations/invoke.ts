import { OPERATIONS, type Operation, type OperationName } from '@patchbay/contract/operations';
import { TIERS } from '@patchbay/contract/roles';
import type { z } from 'zod';
import { PlatformError, toPlatformError } from '../kernel/errors.ts';
import type { Principal } from '../kernel/principal.ts';
import type { OperationCall, OperationHandler, OperationHandlers } from './bind.ts';

export interface Operations {
  /** The definition of that name, or `undefined`. */
  find(name: string): Operation | undefined;
  /** May this principal call it at all? Lists show exactly what this allows (attacks 24). */
  admits(definition: Operation, principal: Principal): boolean;
  /**
   * Runs an operation: role, arguments, function. Always rejects with a `PlatformError`; anything else the function threw
   * becomes `internal` with the cause kept for the log (E-24).
   */
  invoke(
    definition: Operation,
    args: Record<string, unknown>,
    call: OperationCall,
  ): Promise<Record<string, unknown>>;
}

export function createOperations(
  handlers: OperationHandlers,
  /** Told when a caller with the right role reached for what is not theirs. */
  onAccessDenied: (operation: string) => void,
): Operations {
  const byName = new Map<string, Operation>(OPERATIONS.map(definition => [definition.name, definition]));

  function admits(definition: Operation, principal: Principal): boolean {
    return TIERS[definition.tier].some(role => principal.roles.has(role));
  }

  return {
    find: name => byName.get(name),
    admits,
    async invoke(definition, args, call) {
      if (!admits(definition, call.principal)) {
        throw new PlatformError(
          'forbidden',
          `${definition.name} requires one of roles: ${TIERS[definition.tier].join(', ')}.`,
        );
      }
      const input = parseArguments(definition, args);
      try {
        // The table of handlers pairs each name with its own input and output types.
        const handler = handlers[definition.name] as OperationHandler<OperationName>;
        return await handler(input as never, call);
      } catch (thrown) {
        const error = toPlatformError(thrown, definition.name);
        if (error.kind === 'forbidden') onAccessDenied(definition.name);
        throw error;
      }
    },
  };
}

/**
 * The published schema, enforced before the function runs (E-08 to E-11, E-15, E-23): a missing or null required
 * argument is named, a null optional one means its default, an unknown argument or value is refused.
 */
export function parseArguments(
  definition: Operation,
  args: Record<string, unknown>,
): Record<string, unknown> {
  const shape: Record<string, z.ZodType> = definition.input.shape;
  const given: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(args)) {
    if (!Object.hasOwn(shape, name)) {
      const known = Object.keys(shape);
      throw new PlatformError(
        'invalid',
        known.length === 0
          ? `Unknown argument: ${name}. ${definition.name} takes none.`
          : `Unknown argument: ${name}. ${definition.name} takes: ${known.join(', ')}.`,
      );
    }
    // A blank choice means its default (E-18): hosts send '' for a field a person left empty.
    const isBlankChoice = value === '' && name === 'environment';
    if (value !== null && value !== undefined && !isBlankChoice) given[name] = value;
  }
  for (const [name, schema] of Object.entries(shape)) {
    if (!Object.hasOwn(given, name) && !schema.safeParse(undefined).success) {
      throw new PlatformError('invalid', `Missing required argument: ${name}`);
    }
  }
  const parsed = definition.input.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new PlatformError('invalid', parsed.error.issues.map(describeIssue).join('; '));
}

function describeIssue(issue: z.core.$ZodIssue): string {
  const path = issue.path.map(String).join('.');
  if (issue.code === 'invalid_value') {
    return `Invalid argument ${path}: valid values are ${issue.values.map(String).join(', ')}`;
  }
  return `Invalid argument ${path}: ${issue.message}`;
}
