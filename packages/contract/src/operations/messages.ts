import { z } from 'zod';
import { limitOf } from './arguments.ts';

// The log of a conversation or a task, as both families show it (BX-25, BX-26).

export const MESSAGE_TYPES = ['chat_message', 'agent_reply', 'agent_reply_error', 'task_status'] as const;
export type MessageType = (typeof MESSAGE_TYPES)[number];

export const loggedMessage = z.object({
  message_id: z.string(),
  offset: z.int().describe('Grows from message to message, and may leave numbers out'),
  type: z.enum(MESSAGE_TYPES),
  state: z.enum(['completed', 'failed', 'cancelled']),
  in_reply_to: z.string().optional().describe('The message_id of what this answers'),
  body: z.string(),
  payload: z.record(z.string(), z.unknown()).optional(),
  created_at: z.int(),
});

export const messagesPage = z.object({
  count: z.int(),
  messages: z.array(loggedMessage),
  next: z.int().describe('What to give as since for what comes after these'),
});

/** One event of a log that is followed: a message, or the end. */
export const messageFrame = z.union([
  loggedMessage,
  z.object({
    type: z.literal('end'),
    reason: z.enum(['task_terminal', 'channel_closed', 'stream_closed']),
  }),
  z.object({ type: z.literal('error'), error: z.looseObject({ code: z.string(), message: z.string() }) }),
]);

export const logSince = {
  since: z.int().min(0).default(0).describe('Optional. Only messages with a greater offset; default: 0'),
};

export const logPage = {
  ...logSince,
  limit: limitOf(500, 200),
};
