import { z } from 'zod';
import { ENVIRONMENTS } from '../environments.ts';
import { CREATES, DELETES, defineOperation, type Family, READS, SETS, UPDATES } from '../operation.ts';
import {
  currentVersion,
  environment,
  filter,
  latestVersion,
  limit,
  permanent,
  redeploy,
} from './arguments.ts';
import { DEPLOYMENT_STATES } from './deployment.ts';
import { descriptor } from './documents.ts';

const family: Family = { name: 'Agents', description: 'Find, look at, make and change agents.' };

/** As the seed knows it; ours are READY or ERROR. */
const deploymentStatus = z.enum(DEPLOYMENT_STATES);

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
    version: latestVersion,
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
        intents: z.array(z.string()).optional().describe('What chat_managed knows it by'),
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
  annotations: SETS,
  runsTurn: false,
  rest: { method: 'POST', path: '/agent-files' },
  examples: [],
});

const agentId = z.string().describe('Id of the agent');

export const createAgent = defineOperation({
  name: 'create_agent',
  family,
  title: 'Create an agent',
  description:
    'Makes version 1 of a new agent that runs the given workflows, in their order. It answers nobody until deploy_agent.',
  input: z.object({
    name: z.string().trim().min(1).max(200).describe('What people call the agent'),
    description: z
      .string()
      .max(2_000)
      .optional()
      .describe('Optional. What the agent is for; people and models choose by it'),
    workflowUris: z
      .string()
      .max(10_000)
      .optional()
      .describe('Optional. Comma list of references to workflows: patchbay://workflow/<id>?version=<n>'),
  }),
  output: z.object({
    agentId: z.string(),
    name: z.string(),
    description: z.string(),
    location: z.string(),
    status: z.int(),
    action: z.literal('created'),
  }),
  errors: [],
  tier: 'author',
  tool: true,
  annotations: CREATES,
  runsTurn: false,
  rest: { method: 'POST', path: '/agent-configs', successStatus: 201 },
  examples: [{ name: 'Front desk', description: 'Answers visitors.' }],
});

export const updateAgent = defineOperation({
  name: 'update_agent',
  family,
  title: 'Rename an agent',
  description:
    'Changes name or description of an agent, which makes no new version. With redeploy it is also deployed again, in its current version.',
  input: z.object({
    agentId,
    version: currentVersion,
    name: z.string().trim().min(1).max(200).optional().describe('Optional. If omitted, the name stays'),
    description: z.string().max(2_000).optional().describe('Optional. If omitted, the description stays'),
    redeploy,
    environment,
  }),
  output: z.object({
    agentId: z.string(),
    version: z.int(),
    updated: z.literal(true),
    redeployed: z.boolean().optional(),
    environment: z.enum(ENVIRONMENTS).optional(),
    deployError: z.string().optional(),
    action: z.literal('updated'),
  }),
  errors: ['agent_not_found', 'conflict'],
  tier: 'author',
  tool: true,
  annotations: UPDATES,
  runsTurn: false,
  rest: { method: 'POST', path: '/agent-configs/{agentId}' },
  examples: [],
});

export const deleteAgent = defineOperation({
  name: 'delete_agent',
  family,
  title: 'Delete an agent',
  description:
    'Undeploys an agent everywhere and deletes it. With cascade its workflows and their resources go too, as far as they are yours and no other agent or workflow names them.',
  input: z.object({
    agentId,
    version: currentVersion,
    permanent,
    cascade: z
      .boolean()
      .default(false)
      .describe('Optional. Also deletes what only this agent is made of; default: false'),
  }),
  output: z.object({
    agentId: z.string(),
    version: z.int(),
    permanent: z.boolean(),
    cascade: z.boolean(),
    deletedResources: z.array(z.string()).describe('What went with the agent, without versions'),
    status: z.int(),
    action: z.literal('deleted'),
  }),
  errors: ['agent_not_found', 'conflict'],
  tier: 'author',
  tool: true,
  annotations: DELETES,
  runsTurn: false,
  rest: { method: 'DELETE', path: '/agent-configs/{agentId}' },
  examples: [],
});

const mapping = z.object({ oldUri: z.string(), newUri: z.string() });

export const applyAgentChanges = defineOperation({
  name: 'apply_agent_changes',
  family,
  title: 'Apply changes to an agent',
  description:
    'Puts new versions of resources into an agent: every workflow that names an old reference is saved once with the new one, then the agent once. References are compared in any of their forms. Nothing is saved where nothing matches.',
  input: z.object({
    agentId,
    agentVersion: currentVersion,
    resourceMappings: z
      .string()
      .max(100_000)
      .describe('JSON array of {oldUri, newUri}, each pair of the same type'),
    redeploy,
    environment,
    compatible: z
      .boolean()
      .default(false)
      .describe(
        'Optional. Running conversations go on with the new version from their next turn on, once it is deployed; default: false',
      ),
  }),
  output: z.object({
    agentId: z.string(),
    previousAgentVersion: z.int(),
    newAgentVersion: z.int(),
    updatedWorkflows: z.int(),
    totalWorkflows: z.int(),
    mappingsApplied: z.int().describe('How many of the mappings matched'),
    matched: z.array(mapping),
    unmatched: z.array(mapping),
    redeployed: z.boolean().optional(),
    environment: z.enum(ENVIRONMENTS).optional(),
    deployError: z.string().optional(),
    action: z.enum(['cascaded', 'no_changes']),
    reason: z.string().optional(),
  }),
  errors: ['not_found', 'agent_not_found', 'conflict'],
  tier: 'author',
  tool: true,
  annotations: UPDATES,
  runsTurn: false,
  rest: { method: 'POST', path: '/agent-configs/{agentId}/changes' },
  examples: [],
});

export const listAgentResources = defineOperation({
  name: 'list_agent_resources',
  family,
  title: 'List what an agent is made of',
  description: 'Every workflow of an agent with its steps and the resources they use, dictionaries too.',
  input: z.object({ agentId, version: latestVersion }),
  output: z.object({
    agentId: z.string(),
    agentVersion: z.int(),
    agentName: z.string().optional(),
    workflowCount: z.int(),
    workflows: z.array(
      z.object({
        workflowId: z.string(),
        workflowVersion: z.int(),
        workflowUri: z.string(),
        extensions: z.array(
          z.object({
            type: z.string().describe('Type of the step'),
            resourceType: z.string().optional(),
            resourceUri: z.string().optional(),
            resourceId: z.string().optional(),
            resourceVersion: z.int().optional(),
          }),
        ),
        extensionCount: z.int(),
        error: z.string().optional().describe('Why the workflow could not be read'),
      }),
    ),
  }),
  errors: ['not_found', 'agent_not_found'],
  tier: 'author',
  tool: true,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/agent-configs/{agentId}/resources' },
  examples: [{ agentId: 'demo' }],
});
