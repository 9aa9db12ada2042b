import { z } from 'zod';
import { ENVIRONMENTS } from '../environments.ts';
import { DELETES, defineOperation, type Family, READS, SETS } from '../operation.ts';
import { environment } from './arguments.ts';

const family: Family = {
  name: 'Deployment',
  description: 'Decide which versions of an agent run, and where.',
};

export const DEPLOYMENT_STATES = ['READY', 'IN_PROGRESS', 'NOT_FOUND', 'ERROR'] as const;

const agentId = z.string().describe('Id of the agent');
const version = (what: string) =>
  z.int().min(0).max(999_999_999).describe(`Version to ${what}; 0 is the latest there is`);

export const deployAgent = defineOperation({
  name: 'deploy_agent',
  family,
  title: 'Deploy an agent',
  description:
    'Makes one version of an agent answer in an environment, beside versions that run there already: new conversations get the latest one. A version that cannot run changes nothing and is answered with action deploy_failed and an error that says why.',
  input: z.object({ agentId, version: version('deploy'), environment }),
  output: z.object({
    agentId: z.string(),
    version: z.int(),
    environment: z.enum(ENVIRONMENTS),
    httpStatus: z.int(),
    deploymentStatus: z.enum(DEPLOYMENT_STATES),
    deployed: z.boolean(),
    action: z.enum(['deployed', 'deploy_failed']),
    error: z.string().optional(),
  }),
  errors: ['not_found', 'agent_not_found'],
  tier: 'author',
  tool: true,
  annotations: SETS,
  runsTurn: false,
  rest: { method: 'POST', path: '/deployments' },
  examples: [{ agentId: 'demo', version: 1, environment: 'test' }],
});

export const getDeploymentStatus = defineOperation({
  name: 'get_deployment_status',
  family,
  title: 'Get a deployment status',
  description: 'Whether one version of an agent runs in an environment.',
  input: z.object({ agentId, version: version('ask about'), environment }),
  output: z.object({
    agentId: z.string(),
    version: z.int(),
    environment: z.enum(ENVIRONMENTS),
    status: z.enum(DEPLOYMENT_STATES),
    httpStatus: z.int(),
    action: z.literal('status_check'),
  }),
  errors: ['agent_not_found'],
  tier: 'author',
  tool: true,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/deployments/{agentId}' },
  examples: [{ agentId: 'demo', version: 1 }],
});

export const undeployAgent = defineOperation({
  name: 'undeploy_agent',
  family,
  title: 'Undeploy an agent',
  description:
    'Takes one version of an agent out of an environment. While conversations run with it, nothing happens and the status is 409, unless endConversations ends them. Conversations that wait for a person, or may go on with a later compatible version, do not count.',
  input: z.object({
    agentId,
    version: version('undeploy'),
    environment,
    endConversations: z
      .boolean()
      .default(false)
      .describe('Optional. Ends the conversations that run with this version; default: false'),
  }),
  output: z.object({
    agentId: z.string(),
    version: z.int(),
    environment: z.enum(ENVIRONMENTS),
    endedConversations: z.boolean(),
    status: z.int(),
    action: z.enum(['undeployed', 'undeploy_refused']),
    error: z.string().optional(),
  }),
  errors: ['not_found', 'agent_not_found'],
  tier: 'author',
  tool: true,
  annotations: DELETES,
  runsTurn: false,
  rest: { method: 'DELETE', path: '/deployments/{agentId}' },
  examples: [{ agentId: 'demo', version: 1, environment: 'test' }],
});
