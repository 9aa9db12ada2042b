import { z } from 'zod';
import { hitlConfig } from '../approval/hitl-config.ts';
import type { DocumentSchema } from './document-type.ts';
import { listOf, nameField, tooMany, withOldNames } from './fields.ts';
import { referenceTo } from './references.ts';

const MAX_WORKFLOWS = 20;

const MAX_CAPABILITIES = 50;
const MAX_ATTRIBUTES = 50;

/** What an agent can do for others, and how well. */
const capability = z.strictObject({
  skill: nameField,
  confidence: z.enum(['high', 'medium', 'low']).default('medium'),
  attributes: z
    .record(
      nameField,
      z.union([z.string().max(1_000, tooMany(1_000, 'characters')), z.number(), z.boolean()]),
    )
    .refine(members => Object.keys(members).length <= MAX_ATTRIBUTES, tooMany(MAX_ATTRIBUTES, 'attributes'))
    .optional(),
});

export const capabilitiesField = listOf(capability, MAX_CAPABILITIES);

/** What an agent document says its agent can do; nothing when it says nothing that can be read. */
export function capabilitiesIn(body: unknown): z.output<typeof capabilitiesField> {
  const parsed = capabilitiesField.safeParse(
    (body as { readonly capabilities?: unknown } | null)?.capabilities,
  );
  return parsed.success ? parsed.data : [];
}

/** What an agent may spend on calls that cost something. */
export const budgetField = z.strictObject({
  /** US dollars; when they are spent, further calls of the conversation are refused. */
  usdPerConversation: z
    .number()
    .gt(0, 'must be more than nothing; leave it out for no limit')
    .max(1_000_000, 'must be at most 1000000'),
});

/** What agents remember of a person beyond the conversation (platform.md 7.3). */
export const userMemoryConfig = z.strictObject({
  /** Loaded when a conversation starts. */
  maxRecallEntries: z.int().min(1).max(500).default(50),
  recallOrder: z.enum(['most_recent', 'most_accessed']).default('most_recent'),
  /** Of one agent about one person. */
  maxEntriesPerUser: z.int().min(1).max(10_000).default(500),
  onCapReached: z.enum(['evict_oldest', 'reject']).default('evict_oldest'),
  /** Of long-term properties that do not say theirs. */
  defaultVisibility: z.enum(['self', 'group', 'global']).default('self'),
});

export type UserMemoryConfig = z.output<typeof userMemoryConfig>;

/** What an agent is made of: its workflows, run in this order (platform.md 1.4). */
export const agentDocument = {
  type: 'agent',
  body: withOldNames(
    z.strictObject({
      workflows: listOf(referenceTo('workflow'), MAX_WORKFLOWS),
      description: z.string().max(2_000, 'must have at most 2000 characters').optional(),
      capabilities: capabilitiesField.optional(),
      hitlConfig: hitlConfig.optional(),
      budget: budgetField.optional(),
      /** Without one, an agent with a property step has the defaults, and any other remembers nothing. */
      userMemoryConfig: userMemoryConfig.optional(),
    }),
    { packages: 'workflows' },
  ),
} as const satisfies DocumentSchema;

export type AgentDocument = z.output<typeof agentDocument.body>;
