import { z } from 'zod';
import { defineOperation, type Family, RUNS_AGENT } from '../operation.ts';
import { attachments, idempotencyKey, metadata } from './arguments.ts';
import { TURN_ERRORS } from './conversation.ts';
import { turnStream } from './frames.ts';

const family: Family = {
  name: 'Calls',
  description: 'Beside the agent door: one message to an agent of yours, and its answer.',
};

const answer = z.object({
  text: z.string().describe('The reply, byte for byte as the agent door gives it'),
  context_id: z.string().describe('The conversation, to go on with here or at the agent door'),
  is_error: z.boolean(),
});

export const invokeAgent = defineOperation({
  name: 'invoke_agent',
  family,
  title: 'Say something to an agent and wait for its answer',
  description:
    'What a tools/call at the agent door does, on REST: the same answer for the same arguments, and one idempotency key for both. A caller that accepts text/event-stream gets a delta for each bubble of the reply, or for each piece of one that a model writes, an error if it fails, and done as the last frame.',
  input: z.object({
    agentId: z.string().describe('Id of an agent of yours'),
    message: z.string().describe('What to say to the agent'),
    context_id: z
      .string()
      .optional()
      .describe(
        'Optional. Conversation to go on with; if omitted, the agent remembers nothing of earlier calls',
      ),
    timeout_ms: z
      .int()
      .min(1)
      .default(120_000)
      .describe(
        'Optional. Milliseconds to wait for the answer; more than 115000 means 115000, and the turn limit of the platform holds as well; default: 120000',
      ),
    idempotency_key: idempotencyKey,
    metadata,
    attachments,
  }),
  output: z.object({ success: z.literal(true), data: answer }),
  errors: ['forbidden', 'agent_not_found', ...TURN_ERRORS],
  tier: 'account',
  tool: false,
  annotations: RUNS_AGENT,
  runsTurn: true,
  rest: {
    method: 'POST',
    path: '/agents/{agentId}/invoke',
    surface: 'agents',
    stream: turnStream({ data: answer.optional() }),
  },
  examples: [{ agentId: 'demo', message: 'How do I connect a client?' }],
});
