import { ENVIRONMENTS, OLD_NAMES_OF_PRODUCTION } from '@patchbay/contract/environments';
import { z } from 'zod';
import type { AgentTrigger } from '../../store/tables/agent-triggers.ts';
import { listOf } from '../document/fields.ts';
import { parseStrictly } from '../document/parse-document.ts';
import { readCallerContext } from '../turn/turn-context.ts';

const MAX_DEPLOYMENTS = 20;
/** Of all contexts of a trigger: lists show them whole. */
const MAX_CHARACTERS = 20_000;

const intent = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(200, 'must have at most 200 characters')
  // It is a segment of addresses.
  .refine(text => !/[/?#\\%]/.test(text) && text !== '.' && text !== '..', 'must have no / ? # % \\ in it');

const environment = z
  .preprocess((value): unknown => {
    if (value === '' || value === null) return undefined;
    return OLD_NAMES_OF_PRODUCTION.includes(String(value)) ? 'production' : value;
  }, z.enum(ENVIRONMENTS).optional())
  .optional();

/** Reserved names are left out, as they are of what a caller sends. */
const initialContext = z.record(z.string(), z.unknown()).default({});

const triggerDocument = z.strictObject({
  intent: intent.optional(),
  agentDeployments: listOf(
    z.strictObject({
      agentId: z.string().min(1, 'must not be empty').max(64, 'must have at most 64 characters'),
      environment,
      initialContext,
    }),
    MAX_DEPLOYMENTS,
  )
    .min(1, 'must name at least one agent')
    .refine(
      list => JSON.stringify(list).length <= MAX_CHARACTERS,
      `must have at most ${MAX_CHARACTERS} characters as JSON`,
    ),
});

/** A trigger as it is written. */
export interface TriggerDocument extends Pick<AgentTrigger, 'deployments'> {
  readonly intent: string | undefined;
}

/** Throws a `PlatformError` of kind `invalid` that names field, path and known fields. */
export function parseTrigger(raw: unknown): TriggerDocument {
  const written = parseStrictly('agent trigger', triggerDocument, raw);
  return {
    intent: written.intent,
    deployments: written.agentDeployments.map(deployment => ({
      ...deployment,
      initialContext: withoutReserved(deployment.initialContext),
    })),
  };
}

function withoutReserved(context: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { values } = readCallerContext(context);
  return Object.fromEntries(Object.entries(context).filter(([name]) => Object.hasOwn(values, name)));
}
