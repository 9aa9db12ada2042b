import { z } from 'zod';
import { ENVIRONMENTS } from '../environments.ts';
import { defineOperation, type Family, READS, SETS } from '../operation.ts';
import { limitOf } from './arguments.ts';

const family: Family = {
  name: 'Your agents',
  description:
    'Beside the agent door: the agents you own, for everything that holds a user key. A key of scope `agents` opens these routes.',
};

/** An agent as its owner sees it (BX-27). `mcpEnabled` and `mcp_enabled` are one value under both its names. */
const ownAgent = z.object({
  id: z.string(),
  instanceId: z.string().describe('Its instance in production, deployed or not'),
  name: z.string(),
  displayName: z.string(),
  description: z.string(),
  slug: z.string().describe('Its segment in the address of the agent door'),
  status: z.enum(['RUNNING', 'STOPPED', 'ERROR']).describe('State of its instance in production'),
  version: z.int().optional().describe('Deployed version; absent while it is not deployed'),
  mcpEnabled: z.boolean(),
  mcp_enabled: z.boolean(),
  visibility: z
    .enum(['private', 'shared', 'public'])
    .describe('Whom it is for: its owner, some others, or everyone who is signed in'),
  shared: z.boolean().describe('True for an agent of somebody else that is shared with you'),
  createdOn: z.int(),
});

const agentId = z.string().describe('Id of an agent of yours');

export const listOwnAgents = defineOperation({
  name: 'list_own_agents',
  family,
  title: 'List your agents',
  description:
    "Agents you own, and those shared with you where your key opens them, deployed or not, by id, with what their MCP clients see of them; an admin with an operator key sees everybody's.",
  input: z.object({
    limit: limitOf(500, 100),
    after: z.string().optional().describe('Optional. Only agents whose id comes after this one'),
  }),
  output: z.object({ count: z.int(), agents: z.array(ownAgent) }),
  errors: [],
  tier: 'account',
  tool: false,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/agents', surface: 'agents' },
  examples: [{}],
});

export const readOwnAgent = defineOperation({
  name: 'read_own_agent',
  family,
  title: 'Look at one of your agents',
  description: 'What list_own_agents says of one agent.',
  input: z.object({ agentId }),
  output: ownAgent,
  errors: ['agent_not_found'],
  tier: 'account',
  tool: false,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/agents/{agentId}', surface: 'agents' },
  examples: [{ agentId: 'demo' }],
});

export const changeOwnAgent = defineOperation({
  name: 'change_own_agent',
  family,
  title: 'Open or close the agent door of an agent',
  description:
    'With mcp_enabled true, MCP clients may talk to the agent at its own address, with false no more, from the next request on. Deploying its agent file again sets what the file says.',
  input: z.object({
    agentId,
    mcp_enabled: z
      .boolean()
      .optional()
      .describe('Optional. Whether MCP clients may talk to it; one of the two names is needed'),
    mcpEnabled: z
      .boolean()
      .optional()
      .describe('Optional. The same under its other name; if both are given they must agree'),
  }),
  output: ownAgent,
  errors: ['agent_not_found'],
  tier: 'account',
  tool: false,
  annotations: SETS,
  runsTurn: false,
  rest: { method: 'PATCH', path: '/agents/{agentId}', surface: 'agents' },
  examples: [{ agentId: 'demo', mcp_enabled: true }],
});

export const listInstances = defineOperation({
  name: 'list_instances',
  family,
  title: 'List instances',
  description:
    'Where your agents run: one instance for each environment an agent is deployed in, and a stopped one for production where it is not.',
  input: z.object({}),
  output: z.object({
    count: z.int(),
    instances: z.array(
      z.object({
        instanceId: z.string(),
        agentId: z.string(),
        name: z.string(),
        environment: z.enum(ENVIRONMENTS),
        version: z.int().optional(),
        state: z
          .enum(['RUNNING', 'STOPPED', 'ERROR'])
          .describe('ERROR: it is deployed and cannot run in this form'),
        delivery_mode: z
          .literal('push')
          .describe(
            'Messages of different conversations run side by side; one conversation takes one at a time',
          ),
      }),
    ),
  }),
  errors: [],
  tier: 'account',
  tool: false,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/instances', surface: 'agents' },
  examples: [{}],
});
