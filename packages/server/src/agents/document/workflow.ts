import { z } from 'zod';
import type { DocumentSchema } from './document-type.ts';
import { listOf } from './fields.ts';

const MAX_STEPS = 50;

/**
 * Which steps a turn runs, in this order (platform.md 1.5). `type` is a word of the table of steps; which words there
 * are, and what a step's `config` and `extensions` may hold, is decided when the agent is compiled.
 */
export const workflowDocument = {
  type: 'workflow',
  body: z.strictObject({
    workflowSteps: listOf(
      z.strictObject({
        type: z.string().min(1, 'must not be empty'),
        config: z.record(z.string(), z.unknown()).optional(),
        extensions: z.record(z.string(), z.unknown()).optional(),
      }),
      MAX_STEPS,
    ),
  }),
} as const satisfies DocumentSchema;

export type WorkflowDocument = z.output<typeof workflowDocument.body>;
