import { type DocumentRef, parseDocumentUri } from '@patchbay/contract/ids';
import { wordOfExtension, wordOfStep } from '@patchbay/contract/seed-names';
import { z } from 'zod';
import type { DocumentSchema } from './document-type.ts';
import { listOf, withOldNames } from './fields.ts';
import { normalReference } from './references.ts';

const MAX_STEPS = 50;

type Members = Readonly<Record<string, unknown>>;

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const step = z
  .strictObject({
    type: z.string().min(1, 'must not be empty').max(200, 'must have at most 200 characters'),
    config: z.record(z.string(), z.unknown()).optional(),
    extensions: z.record(z.string(), z.unknown()).optional(),
  })
  .transform(written => mapStep({ ...written, type: wordOfStep(written.type) }, normalReference));

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

interface Step {
  readonly type: string;
  readonly config?: Members | undefined;
  readonly extensions?: Members | undefined;
}

/** The step with other references: that of its `config`, and those of its extensions, as the parser's dictionaries. */
export function mapStep({ type, config, extensions }: Step, map: (uri: unknown) => unknown) {
  const withUri = (holder: Members): Members =>
    Object.hasOwn(holder, 'uri') ? { ...holder, uri: map(holder.uri) } : holder;
  const extension = (written: unknown): unknown => {
    if (!isMembers(written)) return written;
    return {
      ...written,
      ...(typeof written.type === 'string' && { type: wordOfExtension(written.type) }),
      ...(isMembers(written.config) && { config: withUri(written.config) }),
    };
  };
  const lists = Object.entries(extensions ?? {}).map(([kind, list]) => [
    kind,
    Array.isArray(list) ? list.map(extension) : list,
  ]);
  return {
    type,
    ...(config && { config: withUri(config) }),
    ...(extensions && { extensions: Object.fromEntries(lists) as Members }),
  };
}

/** The documents a step names, in the order it names them. */
export function referencesOf(step: Step): DocumentRef[] {
  const found: DocumentRef[] = [];
  mapStep(step, uri => {
    const ref = typeof uri === 'string' ? parseDocumentUri(uri) : undefined;
    if (ref) found.push(ref);
    return uri;
  });
  return found;
}
