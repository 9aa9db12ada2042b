import { z } from 'zod';
import { defineOperation, type Family, READS, REMOVES } from '../operation.ts';

const family: Family = {
  name: 'Connected applications',
  description: 'What you have allowed MCP clients, one entry for each time you were asked.',
};

export const listGrants = defineOperation({
  name: 'list_grants',
  family,
  title: 'List connected applications',
  description: 'The MCP clients that act as you because you allowed it, newest first.',
  input: z.object({}),
  output: z.object({
    count: z.int(),
    grants: z.array(
      z.object({
        id: z.string(),
        clientId: z.string(),
        /** As the client named itself when you were asked. */
        clientName: z.string(),
        door: z.enum(['operator', 'agents']),
        /** The agents you chose; absent at the operator door. */
        agentIds: z.array(z.string()).optional(),
        scope: z.string(),
        createdOn: z.int(),
        expiresOn: z.int(),
      }),
    ),
  }),
  errors: [],
  tier: 'account',
  tool: false,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/grants' },
  examples: [{}],
});

export const revokeGrant = defineOperation({
  name: 'revoke_grant',
  family,
  title: 'Disconnect an application',
  description:
    'Takes back at once what you allowed an MCP client, with all its tokens and what they have open.',
  input: z.object({ grantId: z.string().describe('Id of the entry, from list_grants') }),
  output: z.object({ id: z.string(), revoked: z.literal(true) }),
  errors: ['not_found'],
  tier: 'account',
  tool: false,
  annotations: REMOVES,
  runsTurn: false,
  rest: { method: 'DELETE', path: '/grants/{grantId}' },
  examples: [],
});
