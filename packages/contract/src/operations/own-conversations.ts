import { z } from 'zod';
import { defineOperation, type Family, READS, REMOVES, RUNS_AGENT } from '../operation.ts';
import { attachments, idempotencyKey, limitOf, metadata } from './arguments.ts';
import { TURN_ERRORS } from './conversation.ts';
import { logPage, logSince, messageFrame, messagesPage } from './messages.ts';

const family: Family = {
  name: 'Your conversations',
  description:
    'Beside the agent door: conversations that are opened here, whose messages are answered in the background and kept in a log. Their id is the context_id of every other surface.',
};

const conversation = z.object({
  conversation_id: z.string().describe('Also the context_id at the agent door and of invoke_agent'),
  agent_id: z.string(),
  title: z.string().optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
  state: z.enum(['open', 'closed']).describe('closed: it takes no more messages'),
  created_at: z.int(),
  updated_at: z.int(),
  closed_at: z.int().optional(),
});

const agentId = z.string().describe('Id of an agent of yours');
const conversationId = z.string().describe('Id of a conversation you opened with this agent');
const CONVERSATION_ERRORS = ['forbidden'] as const;
const at = '/agents/{agentId}/conversations';

export const openConversation = defineOperation({
  name: 'open_conversation',
  family,
  title: 'Open a conversation with an agent',
  description:
    'Starts a conversation whose messages are kept in a log; the greeting of the agent is the first one.',
  input: z.object({
    agentId,
    title: z.string().min(1).max(200).optional().describe('Optional. For your own lists'),
    metadata: metadata.describe('Optional. For your own program; the agent is not told'),
  }),
  output: conversation,
  errors: ['agent_not_found', ...TURN_ERRORS],
  tier: 'account',
  tool: false,
  annotations: RUNS_AGENT,
  runsTurn: true,
  rest: { method: 'POST', path: at, successStatus: 201, surface: 'agents' },
  examples: [{ agentId: 'demo', title: 'First steps' }],
});

export const listOwnConversations = defineOperation({
  name: 'list_own_conversations',
  family,
  title: 'List conversations you opened',
  description: 'Conversations you opened with one agent, latest first.',
  input: z.object({
    agentId,
    limit: limitOf(200, 50),
  }),
  output: z.object({ count: z.int(), conversations: z.array(conversation) }),
  errors: ['agent_not_found'],
  tier: 'account',
  tool: false,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: at, surface: 'agents' },
  examples: [{ agentId: 'demo' }],
});

export const readOwnConversation = defineOperation({
  name: 'read_own_conversation',
  family,
  title: 'Look at a conversation you opened',
  description:
    'What is known of the conversation; only who opened it sees it. One of somebody else is refused in the words for one that is not there.',
  input: z.object({ agentId, conversation_id: conversationId }),
  output: conversation,
  errors: CONVERSATION_ERRORS,
  tier: 'account',
  tool: false,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: `${at}/{conversation_id}`, surface: 'agents' },
  examples: [],
});

export const closeConversation = defineOperation({
  name: 'close_conversation',
  family,
  title: 'Close a conversation you opened',
  description:
    'Ends the conversation on every surface: it takes no more messages. Its log can be read here for 5 minutes more. While it is busy with a message it cannot be closed.',
  input: z.object({ agentId, conversation_id: conversationId }),
  output: z.object({}),
  errors: [...CONVERSATION_ERRORS, 'conflict'],
  tier: 'account',
  tool: false,
  annotations: REMOVES,
  runsTurn: false,
  rest: { method: 'DELETE', path: `${at}/{conversation_id}`, successStatus: 204, surface: 'agents' },
  examples: [],
});

export const postMessage = defineOperation({
  name: 'post_message',
  family,
  title: 'Say something in a conversation you opened',
  description:
    'Takes the message and answers at once; the agent answers in the background, one message after the other. The reply names this message in in_reply_to.',
  input: z.object({
    agentId,
    conversation_id: conversationId,
    message: z.string().describe('What to say to the agent'),
    idempotency_key: idempotencyKey,
    metadata,
    attachments,
  }),
  output: z.object({ message_id: z.string(), created_at: z.int() }),
  errors: [...CONVERSATION_ERRORS, 'conflict', 'wrong_state'],
  tier: 'account',
  tool: false,
  annotations: RUNS_AGENT,
  runsTurn: true,
  rest: { method: 'POST', path: `${at}/{conversation_id}/messages`, successStatus: 202, surface: 'agents' },
  examples: [],
});

export const listMessages = defineOperation({
  name: 'list_messages',
  family,
  title: 'Read the log of a conversation you opened',
  description: 'What was said, whichever surface it came from, oldest first.',
  input: z.object({ agentId, conversation_id: conversationId, ...logPage }),
  output: messagesPage,
  errors: CONVERSATION_ERRORS,
  tier: 'account',
  tool: false,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: `${at}/{conversation_id}/messages`, surface: 'agents' },
  examples: [],
});

export const watchConversation = defineOperation({
  name: 'watch_conversation',
  family,
  title: 'Follow a conversation you opened',
  description:
    'The log as server-sent events, each as soon as it is there, and one event named end: channel_closed when the conversation is closed, stream_closed when the stream is and the reader should come back with since. Without text/event-stream in Accept, what is there now, as list_messages answers it.',
  input: z.object({ agentId, conversation_id: conversationId, ...logSince }),
  output: messagesPage,
  errors: CONVERSATION_ERRORS,
  tier: 'account',
  tool: false,
  annotations: READS,
  runsTurn: false,
  rest: {
    method: 'GET',
    path: `${at}/{conversation_id}/events`,
    surface: 'agents',
    stream: { frame: messageFrame, last: { type: 'end', reason: 'stream_closed' } },
  },
  examples: [],
});
