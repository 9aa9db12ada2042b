// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import { z } from 'zod';
import { agentIdSchema, DOCUMENT_TYPES } from '../ids.ts';
import { defineOperation, type Family, READS, SETS } from '../operation.ts';
import { latestVersion } from './arguments.ts';

const family: Family = {
  name: 'Exports',
  description: 'Carry agents from one platform to another, each as one value with all it is made of.',
};

/** What an export of this form says in `patchbay_export`; another form gets another number. */
export const EXPORT_FORM = 1;
const MAX_DOCUMENTS = 2_000;
const MAX_NAMES = 10_000;

/** As `patchbay vars` takes them. */
const exportedVariable = z.strictObject({
  name: z.string().max(128),
  /** Only where they were asked for and the variable may be exported. */
  value: z.string().max(10_000).optional(),
  description: z.string().max(500).optional(),
});

const exportedDocument = z.strictObject({
  type: z.enum(DOCUMENT_TYPES),
  id: agentIdSchema,
  version: z.int().min(1).max(999_999_999),
  name: z.string().max(200),
  description: z.string().max(2_000),
  body: z.record(z.string(), z.unknown()),
});
export type ExportedDocument = z.infer<typeof exportedDocument>;

/** One version of an agent with every document it is made of, each in the version the agent names. */
export const exportedAgentSchema = z.strictObject({
  patchbay_export: z.literal(EXPORT_FORM),
  agent: agentIdSchema,
  version: z.int().min(1).max(999_999_999),
  mcp_enabled: z.boolean(),
  secrets: z.array(z.string().max(128)).max(MAX_NAMES).describe('Names the documents refer to; never values'),
  variables: z.array(exportedVariable).max(MAX_NAMES).describe('Names the documents refer to'),
  documents: z.array(exportedDocument).max(MAX_DOCUMENTS).describe('The agent first, then what it names'),
});
export type ExportedAgent = z.infer<typeof exportedAgentSchema>;

export const exportAgent = defineOperation({
  name: 'export_agent',
  family,
  title: 'Export an agent',
  description:
    'One version of an agent with every document it is made of, for import_agent of another platform. Values of secrets are never in it; it names the secrets and variables the documents refer to.',
  input: z.object({
    agentId: z.string().describe('Id of the agent'),
    version: latestVersion,
    includeVariables: z
      .boolean()
      .default(false)
      .describe('Optional. Also the values of the variables that are marked exportable; default: false'),
  }),
  output: exportedAgentSchema,
  errors: ['not_found', 'agent_not_found'],
  tier: 'author',
  tool: false,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/agent-configs/{agentId}/export' },
  examples: [{ agentId: 'demo' }],
});

export const importAgent = defineOperation({
  name: 'import_agent',
  family,
  title: 'Import an agent',
  description:
    'Saves an exported agent with the ids and version numbers it has, all of it or nothing, and deploys nothing. The same export again changes nothing. It says which secrets and variables are not here yet.',
  input: z.object({
    file: exportedAgentSchema.describe('What export_agent answered'),
    nextVersions: z
      .boolean()
      .default(false)
      .describe(
        'Optional. Saves what is another here as the next versions, whatever their numbers, and has the references follow; default: false',
      ),
  }),
  output: z.object({
    agentId: z.string(),
    agentVersion: z.int(),
    documents: z.array(z.object({ resource: z.string(), changed: z.boolean() })),
    missingSecrets: z.array(z.string()).describe('Names ${vault:name} that are not here'),
    missingVariables: z.array(z.string()).describe('Names ${vars:name} that are not here'),
  }),
  errors: ['forbidden', 'conflict'],
  tier: 'author',
  tool: false,
  annotations: SETS,
  runsTurn: false,
  rest: { method: 'POST', path: '/agent-imports' },
  examples: [],
});
