import { z } from 'zod';
import { ENVIRONMENTS } from '../environments.ts';
import { defineOperation, type Family, READS } from '../operation.ts';

const family: Family = {
  name: 'Diagnostics',
  description: 'What the platform noted while it worked.',
};

/** From the least important to the most. */
export const SHOWN_LOG_LEVELS = ['DEBUG', 'INFO', 'WARN', 'ERROR'] as const;

/** One line of the log (platform.md 1.12). */
export const logEntrySchema = z.object({
  timestamp: z.int(),
  level: z.enum(SHOWN_LOG_LEVELS),
  loggerName: z.string().describe('The part of the platform that spoke'),
  message: z.string(),
  environment: z.enum(ENVIRONMENTS).optional(),
  agentId: z.string().optional(),
  agentVersion: z.int().optional(),
  conversationId: z.string().optional(),
  userId: z.string().optional(),
  instanceId: z.string().describe('The node that wrote it'),
  details: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('What else the line says, such as the reason of a failure; for admins only'),
});

export const readAgentLogs = defineOperation({
  name: 'read_agent_logs',
  family,
  title: 'Read the log',
  description:
    'Lines of the log, newest first. With conversationId those about a conversation of yours (an admin: any); without it the whole log, for admins only. Warnings and errors are kept for days and from all nodes, other lines in the memory of the node that answers.',
  input: z.object({
    agentId: z.string().optional().describe('Optional. Only lines about this agent'),
    conversationId: z
      .string()
      .optional()
      .describe('Optional. Only lines about this conversation; needed unless you are an admin'),
    level: z
      .enum(SHOWN_LOG_LEVELS)
      .optional()
      .describe(
        'Optional. The least important lines to return: ERROR, WARN, INFO or DEBUG; if omitted, all that were written',
      ),
    limit: z
      .int()
      .min(1)
      .max(1000)
      .default(50)
      .describe('Optional. How many at the most, 1 to 1000; default: 50'),
  }),
  output: z.object({
    count: z.int(),
    limit: z.int(),
    agentId: z.string().optional(),
    conversationId: z.string().optional(),
    level: z.enum(SHOWN_LOG_LEVELS).optional(),
    entries: z.array(logEntrySchema),
  }),
  errors: ['forbidden', 'not_found'],
  tier: 'observe',
  tierWithout: { argument: 'conversationId', tier: 'admin' },
  tool: true,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/logs' },
  examples: [{ level: 'WARN' }],
});
