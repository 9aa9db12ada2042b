import { z } from 'zod';
import { defineOperation, type Family, READS, REMOVES, SETS } from '../operation.ts';

const family: Family = {
  name: 'Sharing',
  description:
    'Whom an agent is for, besides its owner. Who may use an agent talks to it in conversations of their own; they see neither what it is made of nor what others say to it.',
};

const agentId = z.string().describe('Id of an agent of yours');

/** `everyone`, `user:<id>` or `role:<role>`. */
const grantee = z.string().regex(/^(?:everyone|(?:user|role):[\w.@+-]{1,128})$/, {
  error: 'must be everyone, user:LOGIN or role:ROLE, as in user:anna or role:patchbay-user',
});

const shares = z.object({
  agentId: z.string(),
  count: z.int(),
  shares: z.array(
    z.object({
      with: z.string().describe('everyone, user:<id> or role:<role>'),
      name: z.string().optional().describe('Of the person, where it is one'),
      createdOn: z.int(),
    }),
  ),
});

export const listAgentShares = defineOperation({
  name: 'list_agent_shares',
  family,
  title: 'List with whom an agent is shared',
  description:
    'Who may use an agent of yours besides you; an admin looks at any. Nobody, unless it was shared.',
  input: z.object({ agentId }),
  output: shares,
  errors: ['agent_not_found'],
  tier: 'account',
  tool: false,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/agents/{agentId}/shares' },
  examples: [{ agentId: 'demo' }],
});

export const shareAgent = defineOperation({
  name: 'share_agent',
  family,
  title: 'Share an agent',
  description:
    'Lets a person, everybody with a role, or everyone who is signed in use an agent of yours, from the next request on. An admin shares any.',
  input: z.object({
    agentId,
    with: grantee.describe('everyone, user:<id or login> or role:<role>, as role:patchbay-user'),
  }),
  output: shares,
  errors: ['agent_not_found', 'not_found', 'conflict'],
  tier: 'account',
  tool: false,
  annotations: SETS,
  runsTurn: false,
  rest: { method: 'POST', path: '/agents/{agentId}/shares' },
  examples: [{ agentId: 'demo', with: 'role:patchbay-user' }],
});

export const unshareAgent = defineOperation({
  name: 'unshare_agent',
  family,
  title: 'Share an agent no longer',
  description:
    'Ends what share_agent has allowed, at once. Conversations stay with those who had them; they cannot go on.',
  input: z.object({ agentId, with: grantee.describe('As list_agent_shares says it') }),
  output: shares,
  errors: ['agent_not_found'],
  tier: 'account',
  tool: false,
  annotations: REMOVES,
  runsTurn: false,
  rest: { method: 'DELETE', path: '/agents/{agentId}/shares/{with}' },
  examples: [{ agentId: 'demo', with: 'role:patchbay-user' }],
});
