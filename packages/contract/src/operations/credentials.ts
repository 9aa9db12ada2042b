import { z } from 'zod';
import { defineOperation, type Family, READS, REMOVES } from '../operation.ts';

const family: Family = {
  name: 'Credentials',
  description:
    'Your own credentials at MCP servers that each person reaches by themselves, whatever your role. A credential goes in and never comes out again.',
};

const MAX_TOKEN_CHARS = 16_384;

const name = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/,
    'must be 1 to 100 characters of letters, digits, ".", "_" and "-"',
  );

const credentialInfo = {
  name: z.string(),
  servers: z
    .array(z.string())
    .describe('Servers that are used with it, such as `default/linear`; empty when none is now'),
  givenOn: z.int().optional().describe('When you gave it; left out while you have not'),
  changedOn: z.int().optional().describe('When it was last given or renewed'),
};

export const listCredentials = defineOperation({
  name: 'list_credentials',
  family,
  title: 'List your credentials',
  description:
    'The credentials that MCP servers want of you, and those you have given, by name. None is shown.',
  input: z.object({}),
  output: z.object({ count: z.int(), credentials: z.array(z.object(credentialInfo)) }),
  errors: [],
  tier: 'account',
  tool: false,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/credentials' },
  examples: [{}],
});

export const putCredential = defineOperation({
  name: 'put_credential',
  family,
  title: 'Give a credential of yours',
  description:
    'Keeps a credential of yours under a name that MCP servers ask for, in the place of the one you gave before. Agents use it for what you ask of them and for nobody else; connections that were made with the one before are closed.',
  input: z.object({
    name: name.describe('Its name, as list_credentials has it'),
    token: z
      .string()
      .min(1)
      .max(MAX_TOKEN_CHARS)
      .describe('The credential as the server takes it, without the word of a scheme such as Bearer'),
  }),
  output: z.object({ ...credentialInfo, created: z.boolean() }),
  errors: ['conflict', 'disabled'],
  tier: 'account',
  tool: false,
  annotations: REMOVES,
  runsTurn: false,
  rest: { method: 'PUT', path: '/credentials/{name}' },
  examples: [{ name: 'linear', token: 'not-a-real-token' }],
});

export const deleteCredential = defineOperation({
  name: 'delete_credential',
  family,
  title: 'Take a credential of yours back',
  description:
    'Deletes a credential of yours for good and closes the connections that were made with it. Revoke it at the server, too, where that is possible.',
  input: z.object({ name: name.describe('Its name') }),
  output: z.object({ name: z.string(), deleted: z.literal(true) }),
  errors: ['not_found'],
  tier: 'account',
  tool: false,
  annotations: REMOVES,
  runsTurn: false,
  rest: { method: 'DELETE', path: '/credentials/{name}' },
  examples: [],
});
