import { z } from 'zod';
import { defineOperation, type Family, READS, REMOVES, RUNS_AGENT } from '../operation.ts';
import { attachments, idempotencyKey, limitOf, metadata } from './arguments.ts';
import { logPage, logSince, messageFrame, messagesPage } from './messages.ts';

const family: Family = {
  name: 'Tasks',
  description:
    'Beside the agent door: messages to agents of yours that are worked on in the background, and outlive the request and the node.',
};

const MAX_DEADLINE_MS = 7 * 86_400_000;

/** The last five are ends (BX-20). */
export const TASK_STATES = [
  'queued',
  'running',
  'input_required',
  'auth_required',
  'completed',
  'failed',
  'canceled',
  'timeout',
  'rejected',
] as const;
export type TaskState = (typeof TASK_STATES)[number];

const task = z.object({
  task_id: z.string(),
  agent_id: z.string(),
  status: z.enum(TASK_STATES),
  context_id: z.string().optional().describe('The conversation it runs in, once it has begun'),
  result: z.object({ text: z.string() }).optional().describe('The reply, once it is completed'),
  error: z
    .object({ code: z.string(), message: z.string() })
    .optional()
    .describe('Why it failed, was rejected or took too long'),
  input_required: z.string().optional().describe('What it waits for, in a sentence'),
  cancel_reason: z.string().optional(),
  created_at: z.int(),
  started_at: z.int().optional(),
  ended_at: z.int().optional(),
  deadline: z.int().describe('When it is ended unless it has ended before'),
});

const agentId = z.string().describe('Id of an agent of yours');
const taskId = z.string().describe('Id of a task of yours, from create_task');

export const createTask = defineOperation({
  name: 'create_task',
  family,
  title: 'Give an agent a task',
  description:
    'Takes the message and answers at once; the agent works on it in the background, on whichever node is free, and again on another one if its node goes down. Look with read_task, or follow watch_task.',
  input: z.object({
    agentId,
    message: z.string().describe('What to say to the agent'),
    context_id: z
      .string()
      .optional()
      .describe('Optional. Conversation to go on with; if omitted, the task has one of its own'),
    deadline_ms: z
      .int()
      .min(1_000)
      .max(MAX_DEADLINE_MS)
      .default(3_600_000)
      .describe('Optional. Milliseconds until it is ended, 7 days at the most; default: 3600000'),
    idempotency_key: idempotencyKey,
    metadata,
    attachments,
  }),
  output: task,
  errors: ['forbidden', 'agent_not_found', 'conflict'],
  tier: 'account',
  tool: false,
  annotations: RUNS_AGENT,
  runsTurn: true,
  rest: { method: 'POST', path: '/agents/{agentId}/tasks', successStatus: 202, surface: 'agents' },
  examples: [{ agentId: 'demo', message: 'Ask a person first' }],
});

const listed = {
  state: z
    .enum(['active', 'closed', 'all'])
    .default('all')
    .describe('Optional. active: not ended, closed: ended, or all; default: all'),
  since: z.int().min(0).optional().describe('Optional. Only tasks created after this time'),
  limit: limitOf(200, 50),
};
const tasks = z.object({ count: z.int(), tasks: z.array(task) });

export const listTasks = defineOperation({
  name: 'list_tasks',
  family,
  title: 'List your tasks',
  description: 'Your tasks with all agents, newest first.',
  input: z.object(listed),
  output: tasks,
  errors: [],
  tier: 'account',
  tool: false,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/tasks', surface: 'agents' },
  examples: [{ limit: 1 }],
});

export const listAgentTasks = defineOperation({
  name: 'list_agent_tasks',
  family,
  title: 'List your tasks with an agent',
  description: 'Your tasks with one agent, newest first.',
  input: z.object({ agentId, ...listed }),
  output: tasks,
  errors: ['agent_not_found'],
  tier: 'account',
  tool: false,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/agents/{agentId}/tasks', surface: 'agents' },
  examples: [{ agentId: 'demo', state: 'closed' }],
});

export const readTask = defineOperation({
  name: 'read_task',
  family,
  title: 'Look at a task',
  description: 'The state of a task of yours, and its reply or error.',
  input: z.object({ task_id: taskId }),
  output: task,
  errors: ['not_found'],
  tier: 'account',
  tool: false,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/tasks/{task_id}', surface: 'agents' },
  examples: [],
});

export const listTaskMessages = defineOperation({
  name: 'list_task_messages',
  family,
  title: 'Read what a task has said',
  description: 'The log of a task: the message, each change of its state, and the reply, oldest first.',
  input: z.object({ task_id: taskId, ...logPage }),
  output: messagesPage,
  errors: ['not_found'],
  tier: 'account',
  tool: false,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/tasks/{task_id}/messages', surface: 'agents' },
  examples: [],
});

export const watchTask = defineOperation({
  name: 'watch_task',
  family,
  title: 'Follow a task',
  description:
    'The log of a task as server-sent events, each as soon as it is there, and one event named end: task_terminal when the task has ended, stream_closed when the stream has and the reader should come back with since. Without text/event-stream in Accept, what is there now, as list_task_messages answers it.',
  input: z.object({ task_id: taskId, ...logSince }),
  output: messagesPage,
  errors: ['not_found'],
  tier: 'account',
  tool: false,
  annotations: READS,
  runsTurn: false,
  rest: {
    method: 'GET',
    path: '/tasks/{task_id}/events',
    surface: 'agents',
    stream: { frame: messageFrame, last: { type: 'end', reason: 'stream_closed' } },
  },
  examples: [],
});

export const cancelTask = defineOperation({
  name: 'cancel_task',
  family,
  title: 'Cancel a task',
  description:
    'Ends a task, on whichever node it runs: nothing of the rest is done, and its conversation is free. What has ended stays as it is.',
  input: z.object({
    task_id: taskId,
    reason: z.string().max(500).optional().describe('Optional. Why, for the record'),
  }),
  output: task,
  errors: ['not_found'],
  tier: 'account',
  tool: false,
  annotations: REMOVES,
  runsTurn: false,
  rest: { method: 'POST', path: '/tasks/{task_id}/cancel', surface: 'agents' },
  examples: [],
});

export const continueTask = defineOperation({
  name: 'continue_task',
  family,
  title: 'Answer what a task waits for',
  description:
    'For a task in the state input_required: APPROVED or REJECTED decides the approval it waits for, and the agent goes on.',
  input: z.object({
    task_id: taskId,
    input: z.string().describe('APPROVED or REJECTED, in any case'),
  }),
  output: task,
  errors: ['not_found', 'wrong_state'],
  tier: 'account',
  tool: false,
  annotations: RUNS_AGENT,
  runsTurn: false,
  rest: { method: 'POST', path: '/tasks/{task_id}/continue', successStatus: 202, surface: 'agents' },
  examples: [],
});
