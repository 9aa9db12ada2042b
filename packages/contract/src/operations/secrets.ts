// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import { z } from 'zod';
import { agentIdSchema } from '../ids.ts';
import { defineOperation, type Family, READS, REMOVES, SETS } from '../operation.ts';
import { limit } from './arguments.ts';

const family: Family = {
  name: 'Secrets',
  description:
    'Secrets and variables that configuration refers to as `${vault:name}` and `${vars:name}`. The value of a secret goes in and never comes out again.',
};

/** Names of secrets and of variables. */
const SECRET_NAME = /^[a-zA-Z0-9._-]{1,128}$/;
const MAX_SECRET_CHARS = 65_536;
/** Anything shorter is guessed, and cannot be taken out of a text without spoiling it. */
const MIN_SECRET_CHARS = 4;
const MAX_VARIABLE_CHARS = 10_000;
const MAX_ALLOWED_AGENTS = 100;

const name = z
  .string()
  .regex(SECRET_NAME, 'must be 1 to 128 characters of letters, digits, ".", "_" and "-"');
const description = z.string().max(500);
const after = z
  .string()
  .max(128)
  .optional()
  .describe(
    'Optional. Only names behind this one in the order of names, for the next page; if omitted, from the first',
  );

const secretInfo = {
  name: z.string(),
  description: z.string(),
  allowedAgents: z.array(z.string()).describe('Agents that may use it; empty is every agent'),
  checksum: z.string().describe('Changes with the value; the value cannot be guessed from it'),
  createdBy: z.string(),
  createdOn: z.int(),
  modifiedBy: z.string(),
  modifiedOn: z.int(),
  lastAccessedOn: z.int().optional().describe('When an agent last used it, to the hour'),
};

export const putSecret = defineOperation({
  name: 'put_secret',
  family,
  title: 'Store a secret',
  description:
    'Stores a secret in the vault, or changes the one of that name. What is left out stays as it is. Agents use it where their configuration says ${vault:name}; no operation ever shows the value.',
  input: z.object({
    name: name.describe('Name of the secret'),
    value: z
      .string()
      .min(MIN_SECRET_CHARS)
      .max(MAX_SECRET_CHARS)
      .optional()
      .describe(
        `Optional. The value, ${MIN_SECRET_CHARS} to ${MAX_SECRET_CHARS} characters; if omitted, the one it has. A new secret needs one`,
      ),
    description: description.optional().describe('Optional. What it is for; if omitted, as it is'),
    allowedAgents: z
      .array(
        z
          .string()
          .refine(id => id === '*' || agentIdSchema.safeParse(id).success, 'must be an id of an agent'),
      )
      .max(MAX_ALLOWED_AGENTS)
      .optional()
      .describe(
        'Optional. Ids of the agents that may use it, an empty list for every agent; if omitted, as it is, and every agent for a new one',
      ),
  }),
  output: z.object({ ...secretInfo, created: z.boolean() }),
  errors: ['conflict', 'disabled'],
  tier: 'admin',
  tool: false,
  annotations: REMOVES,
  runsTurn: false,
  rest: { method: 'PUT', path: '/secrets/{name}' },
  examples: [{ name: 'crm-key', value: 'not a real key', description: 'Key of the CRM' }],
});

export const listSecrets = defineOperation({
  name: 'list_secrets',
  family,
  title: 'List secrets',
  description: 'What is known of the secrets, by name, without their values.',
  input: z.object({ after, limit }),
  output: z.object({ count: z.int(), secrets: z.array(z.object(secretInfo)) }),
  errors: [],
  tier: 'admin',
  tool: false,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/secrets' },
  examples: [{}],
});

export const rotateSecrets = defineOperation({
  name: 'rotate_secrets',
  family,
  title: 'Rotate the data key',
  description:
    'Makes a new data key and encrypts every secret with it. Values stay as they are and agents go on working meanwhile. If it is interrupted, a job of the platform does the rest.',
  input: z.object({}),
  output: z.object({
    count: z.int().describe('Secrets that were encrypted again'),
    damaged: z.array(z.string()).describe('Names of secrets that cannot be opened; store them again'),
  }),
  errors: ['disabled'],
  tier: 'admin',
  tool: false,
  annotations: SETS,
  runsTurn: false,
  rest: { method: 'POST', path: '/secrets/rotation' },
  examples: [{}],
});

export const deleteSecret = defineOperation({
  name: 'delete_secret',
  family,
  title: 'Delete a secret',
  description: 'Deletes a secret for good. What refers to it fails from then on, with an error that says so.',
  input: z.object({ name: name.describe('Name of the secret') }),
  output: z.object({ name: z.string(), deleted: z.literal(true) }),
  errors: ['not_found'],
  tier: 'admin',
  tool: false,
  annotations: REMOVES,
  runsTurn: false,
  rest: { method: 'DELETE', path: '/secrets/{name}' },
  examples: [],
});

const variableInfo = {
  name: z.string(),
  value: z.string(),
  description: z.string(),
  exportable: z.boolean(),
  createdBy: z.string(),
  createdOn: z.int(),
  modifiedBy: z.string(),
  modifiedOn: z.int(),
};

export const putVariable = defineOperation({
  name: 'put_variable',
  family,
  title: 'Set a variable',
  description:
    'Sets a variable, which agents use where their configuration says ${vars:name}. Everybody who may author agents can read it; a password belongs into a secret.',
  input: z.object({
    name: name.describe('Name of the variable'),
    value: z.string().max(MAX_VARIABLE_CHARS).describe('The value, at most 10000 characters'),
    description: description.optional().describe('Optional. What it is for; if omitted, as it is'),
    exportable: z
      .boolean()
      .optional()
      .describe('Optional. Goes along when agents are exported; if omitted, as it is, and yes for a new one'),
  }),
  output: z.object({ ...variableInfo, created: z.boolean() }),
  errors: ['conflict'],
  tier: 'author',
  tool: false,
  annotations: REMOVES,
  runsTurn: false,
  rest: { method: 'PUT', path: '/variables/{name}' },
  examples: [{ name: 'crm-url', value: 'https://crm.example.com', description: 'Where the CRM is' }],
});

export const listVariables = defineOperation({
  name: 'list_variables',
  family,
  title: 'List variables',
  description: 'The variables, by name, with their values.',
  input: z.object({ after, limit }),
  output: z.object({ count: z.int(), variables: z.array(z.object(variableInfo)) }),
  errors: [],
  tier: 'author',
  tool: false,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/variables' },
  examples: [{}],
});

export const deleteVariable = defineOperation({
  name: 'delete_variable',
  family,
  title: 'Delete a variable',
  description: 'Deletes a variable. What refers to it fails from then on, with an error that says so.',
  input: z.object({ name: name.describe('Name of the variable') }),
  output: z.object({ name: z.string(), deleted: z.literal(true) }),
  errors: ['not_found'],
  tier: 'author',
  tool: false,
  annotations: REMOVES,
  runsTurn: false,
  rest: { method: 'DELETE', path: '/variables/{name}' },
  examples: [],
});
