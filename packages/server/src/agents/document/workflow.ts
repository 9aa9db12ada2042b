import { wordOfExtension, wordOfStep } from '@patchbay/contract/seed-names';
import { z } from 'zod';
import type { DocumentSchema } from './document-type.ts';
import { listOf, withOldNames } from './fields.ts';
import { normalReference } from './references.ts';

const MAX_STEPS = 50;

type Members = Readonly<Record<string, unknown>>;

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const withNormalUri = (config: Members): Members =>
  Object.hasOwn(config, 'uri') ? { ...config, uri: normalReference(config.uri) } : config;

function normalExtension(extension: unknown): unknown {
  if (!isMembers(extension)) return extension;
  const { type, config } = extension;
  return {
    ...extension,
    ...(typeof type === 'string' && { type: wordOfExtension(type) }),
    ...(isMembers(config) && { config: withNormalUri(config) }),
  };
}

/** The parser's lists of dictionaries and the like; anything else stays as it is. */
function normalExtensions(extensions: Members): Members {
  return Object.fromEntries(
    Object.entries(extensions).map(([kind, list]) => [
      kind,
      Array.isArray(list) ? list.map(normalExtension) : list,
    ]),
  );
}

const step = z
  .strictObject({
    type: z.string().min(1, 'must not be empty').max(200, 'must have at most 200 characters'),
    config: z.record(z.string(), z.unknown()).optional(),
    extensions: z.record(z.string(), z.unknown()).optional(),
  })
  .transform(({ type, config, extensions }) => ({
    type: wordOfStep(type),
    ...(config && { config: withNormalUri(config) }),
    ...(extensions && { extensions: normalExtensions(extensions) }),
  }));

/**
 * Which steps a turn runs, in this order (platform.md 1.5). `type` is a word of the table of steps; which words there
 * are, and what a step's `config` and `extensions` may hold, is decided when the agent is compiled. Step types and
 * references in EDDI's forms are taken and kept in ours.
 */
export const workflowDocument = {
  type: 'workflow',
  body: withOldNames(z.strictObject({ workflowSteps: listOf(step, MAX_STEPS) }), {
    packageExtensions: 'workflowSteps',
    workflowExtensions: 'workflowSteps',
  }),
} as const satisfies DocumentSchema;

export type WorkflowDocument = z.output<typeof workflowDocument.body>;
