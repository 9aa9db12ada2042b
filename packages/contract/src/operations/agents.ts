import { z } from 'zod';
import { ENVIRONMENTS } from '../environments.ts';
import { defineOperation, type Family, READS } from '../operation.ts';
import { environment, filter, limit } from './arguments.ts';

const family: Family = { name: 'Agents', description: 'Find, look at and deploy agents.' };

/** As the seed knows it; ours are READY or ERROR. */
const deploymentStatus = z.enum(['READY', 'IN_PROGRESS', 'NOT_FOUND', 'ERROR']);

const descriptor = z.object({
  resource: z.string(),
  name: z.string(),
  description: z.string(),
  createdBy: z.string(),
  createdOn: z.int(),
  lastModifiedBy: z.string(),
  lastModifiedOn: z.int(),
});

export const listAgents = defineOperation({
  name: 'list_agents',
  family,
  title: 'List deployed agents',
  description: 'Deployed agents you may use in one environment, with version and deployment status.',
  input: z.object({ environment }),
  output: z.object({
    count: z.int(),
    agents: z.array(
      z.object({
        environment: z.enum(ENVIRONMENTS),
        agentId: z.string(),
        agentVersion: z.int(),
        status: deploymentStatus,
        descriptor,
      }),
    ),
  }),
  errors: [],
  tier: 'author',
  tool: true,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/deployments' },
  examples: [{}],
});

export const listAgentConfigs = defineOperation({
  name: 'list_agent_configs',
  family,
  title: 'List agent configurations',
  description: 'Agent configurations, deployed or not, newest first.',
  input: z.object({
    filter,
    limit,
  }),
  output: z.object({ count: z.int(), configs: z.array(descriptor) }),
  errors: [],
  tier: 'author',
  tool: true,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/agent-configs' },
  examples: [{}],
});

export const getAgent = defineOperation({
  name: 'get_agent',
  family,
  title: 'Get an agent configuration',
  description: 'One version of an agent configuration with name and description.',
  input: z.object({
    agentId: z.string().describe('Id of the agent'),
    version: z
      .int()
      .min(0)
      .max(999_999_999)
      .optional()
      .describe('Optional. Version to read; if omitted or 0, the latest'),
  }),
  output: z.object({
    agentId: z.string(),
    version: z.int(),
    name: z.string(),
    description: z.string(),
    configuration: z.record(z.string(), z.unknown()),
  }),
  errors: ['not_found', 'agent_not_found'],
  tier: 'author',
  tool: true,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/agent-configs/{agentId}' },
  examples: [{ agentId: 'demo' }],
});

export const discoverAgents = defineOperation({
  name: 'discover_agents',
  family,
  title: 'Discover agents',
  description: 'Agents you can talk to, with what they are for. Start here, then use chat_with_agent.',
  input: z.object({
    filter,
    environment,
  }),
  output: z.object({
    count: z.int(),
    agents: z.array(
      z.object({
        agentId: z.string(),
        name: z.string(),
        description: z.string(),
        version: z.int(),
        status: deploymentStatus,
        environment: z.enum(ENVIRONMENTS),
      }),
    ),
  }),
  errors: [],
  tier: 'converse',
  tool: true,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/discovery' },
  examples: [{}],
});

export const deployAgentFile = defineOperation({
  name: 'deploy_agent_file',
  family,
  title: 'Deploy an agent file',
  description:
    'Saves the documents of one agent file (dictionary, rules, output, workflow, agent) as new versions where they changed, and deploys the agent. The same file again changes nothing.',
  input: z.object({
    file: z
      .record(z.string(), z.unknown())
      .describe('The agent file as JSON; the docs page agent-files shows its members'),
  }),
  output: z.object({
    agentId: z.string(),
    agentVersion: z.int(),
    status: z.enum(['READY', 'ERROR']),
    mcpEnabled: z.boolean(),
    documents: z.array(z.object({ resource: z.string(), changed: z.boolean() })),
  }),
  errors: ['forbidden', 'conflict'],
  tier: 'author',
  tool: false,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  runsTurn: false,
  rest: { method: 'POST', path: '/agent-files' },
  examples: [],
});
