import { z } from 'zod';
import { CREATES, defineOperation, type Family, READS, REMOVES } from '../operation.ts';

const family: Family = {
  name: 'Keys',
  description: 'Your own keys, whatever your role, and those of everybody for admins.',
};

export const KEY_SCOPES = ['agents', 'operator'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

const keyInfo = {
  id: z.string(),
  kind: z.enum(['user', 'agent']),
  name: z.string(),
  /** First 12 characters, enough to recognise a key by. */
  prefix: z.string(),
  scopes: z.array(z.enum(KEY_SCOPES)),
  shared: z.boolean().describe('Opens at the agent door also agents that others share with its owner'),
  agentId: z.string().optional(),
  createdOn: z.int(),
  expiresOn: z.int().optional(),
  lastUsedOn: z.int().optional().describe('To the minute; absent for a key that was never used'),
};

export const createKey = defineOperation({
  name: 'create_key',
  family,
  title: 'Create a user key',
  description:
    'Mints an oag_ key that acts as you. The key is shown this once; only a hash of it is kept. People make keys in person, on the command line of the machine the platform runs on or signed in; a key makes none.',
  input: z.object({
    userId: z
      .string()
      .optional()
      .describe('Optional. For an admin: whose key it is to be; if omitted, yours'),
    name: z.string().min(1).max(100).default('key').describe('Optional. What the key is for; default: key'),
    scopes: z
      .array(z.enum(KEY_SCOPES))
      .min(1)
      .default(['agents'])
      .describe(
        'Optional. agents opens the agent door, operator opens /mcp and the REST surface; default: agents',
      ),
    shared: z
      .boolean()
      .default(false)
      .describe('Optional. Opens at the agent door also agents that others share with you; default: false'),
    expiresInDays: z
      .int()
      .min(1)
      .max(3650)
      .optional()
      .describe(
        'Optional. Days until it expires. If omitted, 90 days with the operator scope (its maximum), else never',
      ),
  }),
  output: z.object({ ...keyInfo, key: z.string() }),
  errors: ['forbidden', 'not_found', 'disabled'],
  tier: 'account',
  tool: false,
  annotations: CREATES,
  runsTurn: false,
  rest: { method: 'POST', path: '/api-keys', successStatus: 201 },
  examples: [{ name: 'laptop' }],
});

export const createAgentKey = defineOperation({
  name: 'create_agent_key',
  family,
  title: 'Create an agent key',
  description:
    'Mints a bak_ key that opens one agent of yours and nothing else. At most 3 active ones for an agent. Made like user keys: by the owner, never with a key.',
  input: z.object({
    agentId: z.string().describe('Id of an agent you own'),
    name: z.string().min(1).max(100).default('key').describe('Optional. What the key is for; default: key'),
    expiresInDays: z
      .int()
      .min(1)
      .max(3650)
      .optional()
      .describe('Optional. Days until it expires. If omitted, never'),
  }),
  output: z.object({ ...keyInfo, key: z.string() }),
  errors: ['forbidden', 'agent_not_found', 'conflict'],
  tier: 'account',
  tool: false,
  annotations: CREATES,
  runsTurn: false,
  rest: { method: 'POST', path: '/agents/{agentId}/keys', successStatus: 201 },
  examples: [{ agentId: 'demo' }],
});

export const listKeys = defineOperation({
  name: 'list_keys',
  family,
  title: 'List your keys',
  description: 'Your active keys, newest first. The keys themselves cannot be shown again.',
  input: z.object({
    userId: z.string().optional().describe('Optional. For an admin: whose keys; if omitted, yours'),
  }),
  output: z.object({ count: z.int(), keys: z.array(z.object(keyInfo)) }),
  errors: ['forbidden'],
  tier: 'account',
  tool: false,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/api-keys' },
  examples: [{}],
});

export const revokeKey = defineOperation({
  name: 'revoke_key',
  family,
  title: 'Revoke a key',
  description:
    'Ends one of your keys at once, with any credential that acts as you; an admin ends those of anybody. Other keys are not touched.',
  input: z.object({ keyId: z.string().describe('Id of the key, from list_keys') }),
  output: z.object({ id: z.string(), revoked: z.literal(true) }),
  errors: ['not_found'],
  tier: 'account',
  tool: false,
  annotations: REMOVES,
  runsTurn: false,
  rest: { method: 'DELETE', path: '/api-keys/{keyId}' },
  examples: [],
});

export const listAgentKeys = defineOperation({
  name: 'list_agent_keys',
  family,
  title: 'List the keys of an agent',
  description:
    'The active bak_ keys of one agent of yours, newest first. The keys themselves cannot be shown again.',
  input: z.object({ agentId: z.string().describe('Id of an agent you own') }),
  output: z.object({ count: z.int(), keys: z.array(z.object(keyInfo)) }),
  errors: ['agent_not_found'],
  tier: 'account',
  tool: false,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/agents/{agentId}/keys' },
  examples: [{ agentId: 'demo' }],
});

export const revokeAgentKey = defineOperation({
  name: 'revoke_agent_key',
  family,
  title: 'Revoke a key of an agent',
  description: 'Ends one bak_ key of the agent at once. Other keys are not touched.',
  input: z.object({
    agentId: z.string().describe('Id of an agent you own'),
    keyId: z.string().describe('Id of the key, from list_agent_keys'),
  }),
  output: z.object({ id: z.string(), revoked: z.literal(true) }),
  errors: ['not_found', 'agent_not_found'],
  tier: 'account',
  tool: false,
  annotations: REMOVES,
  runsTurn: false,
  rest: { method: 'DELETE', path: '/agents/{agentId}/keys/{keyId}' },
  examples: [],
});
