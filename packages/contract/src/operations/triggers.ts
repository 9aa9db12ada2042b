import { z } from 'zod';
import { ENVIRONMENTS } from '../environments.ts';
import { CREATES, DELETES, defineOperation, type Family, READS, RUNS_AGENT, UPDATES } from '../operation.ts';
import { environment } from './arguments.ts';
import { TURN_ERRORS, talkResult } from './conversation.ts';

const family: Family = {
  name: 'Triggers',
  description: 'Intents that stand for agents, and the one conversation each user has under an intent.',
};

const config = z
  .string()
  .max(1_000_000)
  .describe('JSON text: {"intent", "agentDeployments": [{"agentId", "environment", "initialContext"}]}');
const intent = z.string().describe('The intent');

const trigger = z.object({
  intent: z.string(),
  agentDeployments: z.array(
    z.object({
      agentId: z.string(),
      environment: z.enum(ENVIRONMENTS).optional(),
      initialContext: z.record(z.string(), z.unknown()),
    }),
  ),
});

export const listAgentTriggers = defineOperation({
  name: 'list_agent_triggers',
  family,
  title: 'List agent triggers',
  description: 'Your agent triggers: intents, and the agents each stands for.',
  input: z.object({}),
  output: z.object({ count: z.int(), triggers: z.array(trigger) }),
  errors: [],
  tier: 'author',
  tool: true,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/triggers' },
  examples: [{}],
});

export const createAgentTrigger = defineOperation({
  name: 'create_agent_trigger',
  family,
  title: 'Create an agent trigger',
  description:
    'Makes an intent stand for agents, so that chat_managed needs no agent id. The first agent is the one that is talked to.',
  input: z.object({ config }),
  output: z.object({ intent: z.string(), status: z.int(), action: z.literal('created') }),
  errors: ['agent_not_found', 'conflict'],
  tier: 'author',
  tool: true,
  annotations: CREATES,
  runsTurn: false,
  rest: { method: 'POST', path: '/triggers', successStatus: 201 },
  examples: [{ config: '{"intent":"get-started","agentDeployments":[{"agentId":"demo"}]}' }],
});

export const updateAgentTrigger = defineOperation({
  name: 'update_agent_trigger',
  family,
  title: 'Update an agent trigger',
  description: 'Makes an intent stand for other agents. Conversations that run go on with their own.',
  input: z.object({ intent, config }),
  output: z.object({ intent: z.string(), status: z.int(), action: z.literal('updated') }),
  errors: ['not_found', 'agent_not_found'],
  tier: 'author',
  tool: true,
  annotations: { ...UPDATES, destructiveHint: true },
  runsTurn: false,
  rest: { method: 'POST', path: '/triggers/{intent}' },
  examples: [
    {
      intent: 'get-started',
      config: '{"agentDeployments":[{"agentId":"demo","initialContext":{"channel":"web"}}]}',
    },
  ],
});

export const chatManaged = defineOperation({
  name: 'chat_managed',
  family,
  title: 'Chat by intent',
  description:
    'Sends a message of a user to the agent an intent stands for, in the one conversation that user has under it: started by the first message, and afresh when it is over.',
  input: z.object({
    intent,
    userId: z
      .string()
      .min(1)
      .max(200)
      .describe('Whose conversation it is: your own user id; an admin may name any'),
    message: z.string().describe('What to say to the agent'),
    environment,
  }),
  output: z.object({ ...talkResult, userId: z.string(), intent: z.string() }),
  errors: ['forbidden', 'not_found', ...TURN_ERRORS],
  tier: 'converse',
  tool: true,
  annotations: RUNS_AGENT,
  runsTurn: true,
  rest: { method: 'POST', path: '/managed-chat' },
  examples: [{ intent: 'get-started', userId: 'anybody', message: 'hello' }],
});

export const deleteAgentTrigger = defineOperation({
  name: 'delete_agent_trigger',
  family,
  title: 'Delete an agent trigger',
  description: 'The intent stands for nothing any more. Its conversations stay readable.',
  input: z.object({ intent }),
  output: z.object({ intent: z.string(), status: z.int(), action: z.literal('deleted') }),
  errors: ['not_found'],
  tier: 'author',
  tool: true,
  annotations: DELETES,
  runsTurn: false,
  rest: { method: 'DELETE', path: '/triggers/{intent}' },
  examples: [{ intent: 'get-started' }],
});
