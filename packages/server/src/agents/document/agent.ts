import { parseDocumentUri } from '@patchbay/contract/ids';
import { z } from 'zod';
import type { DocumentSchema } from './document-type.ts';
import { listOf } from './fields.ts';

const MAX_WORKFLOWS = 20;

/** What an agent is made of: its workflows, run in this order (platform.md 1.4). */
export const agentDocument = {
  type: 'agent',
  body: z.strictObject({
    workflows: listOf(
      z
        .string()
        .refine(
          uri => parseDocumentUri(uri)?.type === 'workflow',
          'must be patchbay://workflow/<id>?version=<n>',
        ),
      MAX_WORKFLOWS,
    ).min(1, 'must name at least one workflow'),
    description: z.string().optional(),
  }),
} as const satisfies DocumentSchema;

export type AgentDocument = z.output<typeof agentDocument.body>;
