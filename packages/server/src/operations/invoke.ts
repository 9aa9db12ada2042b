import { OLD_NAMES_OF_PRODUCTION } from '@patchbay/contract/environments';
import { type PublishedArgument, publishedInput, publishedToolInput } from '@patchbay/contract/operation';
import { OPERATIONS, type Operation, type OperationName } from '@patchbay/contract/operations';
import { opensTier, TIERS, type Tier } from '@patchbay/contract/roles';
import type { z } from 'zod';
import { PlatformError, toPlatformError } from '../kernel/errors.ts';
import { pathText } from '../kernel/path-text.ts';
import type { Principal } from '../kernel/principal.ts';
import type { OperationCall, OperationHandler, OperationHandlers } from './bind.ts';
import type { ChangeNotes } from './note-changes.ts';

/** Both are named, as a client asks for exactly what it is told and would lose the other one (attack 16). */
export const SCOPES_TO_DO_MORE = 'operator operator:read';

export interface Operations {
  /** The definition of that name, or `undefined`. */
  find(name: string): Operation | undefined;
  /** May this principal call it at all? Lists show exactly what this allows (attacks 24). */
  admits(definition: Operation, principal: Principal): boolean;
  /** Has the person allowed the client to do this? Throws a `PlatformError` that names the scopes. Lists show what the person may do. */
  requireScope(definition: Operation, principal: Principal): void;
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
  notes: ChangeNotes,
): Operations {
  const byName = new Map<string, Operation>(OPERATIONS.map(definition => [definition.name, definition]));

  function admits(definition: Operation, principal: Principal): boolean {
    return opensTier(definition.tier, principal.roles);
  }

  async function run(definition: Operation, input: Record<string, unknown>, call: OperationCall) {
    try {
      // The table of handlers pairs each name with its own input and output types.
      const handler = handlers[definition.name] as OperationHandler<OperationName>;
      return await handler(input as never, call);
    } catch (thrown) {
      const error = toPlatformError(thrown, definition.name);
      if (error.kind === 'forbidden') onAccessDenied(definition.name);
      throw error;
    }
  }

  return {
    find: name => byName.get(name),
    admits,
    requireScope,
    async invoke(definition, args, call) {
      try {
        const input = admittedArguments(definition, args, call);
        const output = await run(definition, input, call);
        await notes.done(definition, input, output, call.principal);
        return output;
      } catch (thrown) {
        const error = toPlatformError(thrown, definition.name);
        const reason = reasonOf(error, definition, call.principal);
        if (reason !== undefined) await notes.refused(definition, args, call.principal, reason);
        throw error;
      }
    },
  };
}

/** Who names what is not there for them wants into what is somebody else's: their answer is that of what there is not. */
const ABOUT_ACCESS: ReadonlySet<string> = new Set<OperationName>([
  'create_agent_key',
  'list_agent_keys',
  'list_agent_shares',
  'revoke_agent_key',
  'revoke_grant',
  'revoke_key',
  'share_agent',
  'unshare_agent',
]);

/** Why somebody may not, for the audit trail; `undefined` for an error that is no refusal. */
function reasonOf(
  { kind, details }: PlatformError,
  { name, tier }: Operation,
  { roles }: Principal,
): string | undefined {
  if (kind === 'not_found' || kind === 'agent_not_found')
    return ABOUT_ACCESS.has(name) ? 'not-theirs' : undefined;
  if (kind !== 'forbidden') return undefined;
  if (details?.error === 'insufficient_scope') return 'insufficient-scope';
  return opensTier(tier, roles) ? 'not-allowed' : 'missing-role';
}

/** The arguments of somebody who may make this call. */
function admittedArguments(
  definition: Operation,
  args: Record<string, unknown>,
  { principal, door }: OperationCall,
): Record<string, unknown> {
  requireScope(definition, principal);
  requireTier(definition.name, definition.tier, principal);
  const input = parseArguments(definition, args, door);
  const { tierWithout } = definition;
  if (tierWithout && input[tierWithout.argument] === undefined) {
    requireTier(`${definition.name} without ${tierWithout.argument}`, tierWithout.tier, principal);
  }
  return input;
}

function requireScope({ name, annotations }: Operation, { readsOnly }: Principal): void {
  if (!readsOnly || annotations.readOnlyHint) return;
  throw new PlatformError('forbidden', `${name} takes the scope operator; this client may only read.`, {
    details: { error: 'insufficient_scope', scope: SCOPES_TO_DO_MORE },
  });
}

function requireTier(what: string, tier: Tier, { roles }: Principal): void {
  if (opensTier(tier, roles)) return;
  throw new PlatformError('forbidden', `${what} requires one of roles: ${TIERS[tier].join(', ')}.`);
}

/**
 * The published schema, enforced before the function runs (E-08 to E-11, E-15, E-23): a missing or null required
 * argument is named, a null optional one means its default, an unknown argument or value is refused.
 */
export function parseArguments(
  definition: Operation,
  args: Record<string, unknown>,
  door: OperationCall['door'] = 'rest',
): Record<string, unknown> {
  const { properties, required } =
    door === 'mcp' ? publishedToolInput(definition) : publishedInput(definition);
  const given: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(args)) {
    if (!Object.hasOwn(properties, name))
      throw unknownArgument(definition.name, name, Object.keys(properties));
    if (typeof value === 'string' && !isStorableText(value)) {
      throw new PlatformError('invalid', `Invalid argument ${name}: contains U+0000 or half a character.`);
    }
    const isLeftOut = value === null || value === undefined || (value === '' && isChoice(properties[name]!));
    if (!isLeftOut) given[name] = isOldProduction(properties[name]!, value) ? 'production' : value;
  }
  const missing = required.find(name => !Object.hasOwn(given, name));
  if (missing !== undefined) throw new PlatformError('invalid', `Missing required argument: ${missing}`);
  const parsed = definition.input.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new PlatformError('invalid', parsed.error.issues.map(describeIssue).join('; '));
}

/** Text both engines keep as it is. What came in a JSON body was asked already. */
function isStorableText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** A blank choice means its default (E-18): hosts send '' for a field a person left empty. */
function isChoice(argument: PublishedArgument): boolean {
  return argument.enum !== undefined && argument.default !== undefined;
}

/** Where an environment is asked for, EDDI's older words for production are taken for it. */
function isOldProduction(argument: PublishedArgument, value: unknown): boolean {
  return argument.default === 'production' && OLD_NAMES_OF_PRODUCTION.includes(String(value));
}

function unknownArgument(operation: string, name: string, known: readonly string[]): PlatformError {
  const takes = known.length === 0 ? 'takes none' : `takes: ${known.join(', ')}`;
  return new PlatformError('invalid', `Unknown argument: ${name}. ${operation} ${takes}.`);
}

function describeIssue(issue: z.core.$ZodIssue): string {
  const path = pathText(issue.path);
  if (issue.code === 'invalid_value') {
    return `Invalid argument ${path}: valid values are ${issue.values.map(String).join(', ')}`;
  }
  return `Invalid argument ${path}: ${issue.message}`;
}
