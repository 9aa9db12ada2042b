import { z } from 'zod';
import { ENVIRONMENTS } from '../environments.ts';
import { defineOperation, type Family, READS } from '../operation.ts';
import { limitOf } from './arguments.ts';

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
    limit: limitOf(1000, 50),
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

/** What one step of a turn did (platform.md 1.11). Models add what they were told and what they cost. */
export const auditEntrySchema = z.object({
  id: z.string(),
  conversationId: z.string(),
  agentId: z.string(),
  agentVersion: z.int(),
  userId: z.string(),
  environment: z.string(),
  stepIndex: z.int().describe('The turn; 0 is the greeting'),
  taskIndex: z.int().describe("The step's place in the turn"),
  taskId: z.string(),
  taskType: z.string(),
  durationMs: z.int(),
  input: z.string().optional().describe('What was said, on the first entry of a turn'),
  output: z
    .record(z.string(), z.unknown())
    .describe('What the step changed; what it kept several times under one name is a list'),
  actions: z.array(z.string()).describe('The actions of the turn after the step'),
  timestamp: z.int(),
  seq: z
    .int()
    .describe(
      "Place in the conversation's chain; entries of one commit share it, and those from before there were chains have 0",
    ),
  hmac: z.string().optional().describe('Holds the entries of this place, and those before it'),
});

export const readAuditTrail = defineOperation({
  name: 'read_audit_trail',
  family,
  title: 'Read the audit trail of a conversation',
  description:
    'What each step of each turn did in a conversation, newest first: input, output, actions and how long it took. For viewers their own conversations, for admins any.',
  input: z.object({
    conversationId: z.string().describe('Id of the conversation'),
    limit: limitOf(200, 20),
  }),
  output: z.object({ conversationId: z.string(), count: z.int(), entries: z.array(auditEntrySchema) }),
  errors: ['forbidden', 'not_found'],
  tier: 'observe',
  tool: true,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/conversations/{conversationId}/audit' },
  examples: [],
});

export const listAuditEvents = defineOperation({
  name: 'list_audit_events',
  family,
  title: 'List what was done to the platform',
  description:
    'Who changed what outside conversations, and who was refused, newest first: keys, agents, documents, deployments. Ids only, never what was written.',
  input: z.object({
    before: z
      .int()
      .min(1)
      .optional()
      .describe('Optional. Only events before this place; if omitted, the newest'),
    limit: limitOf(1000, 50),
  }),
  output: z.object({
    count: z.int(),
    events: z.array(
      z.object({
        seq: z.int().describe('Place in the chain of the platform'),
        timestamp: z.int(),
        userId: z.string(),
        via: z.string().describe('The kind of credential'),
        operation: z.string(),
        outcome: z.enum(['done', 'refused']),
        subject: z.record(z.string(), z.unknown()).describe('Ids of what it was about'),
        hmac: z.string(),
      }),
    ),
  }),
  errors: [],
  tier: 'admin',
  tool: false,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/audit/events' },
  examples: [{ limit: 1 }],
});

export const verifyAudit = defineOperation({
  name: 'verify_audit',
  family,
  title: 'Verify the audit trail',
  description:
    'Looks whether the audit trail is what was written: no entry changed, taken away, moved or added. One call works for some seconds; `next` says where to go on. Give conversationId for one conversation alone.',
  input: z.object({
    conversationId: z.string().optional().describe('Optional. Only this conversation'),
    after: z.string().optional().describe('Optional. `next` of the call before; if omitted, from the start'),
  }),
  output: z.object({
    intact: z.boolean().describe('True when nothing that was looked at is wrong'),
    chains: z.int(),
    entries: z.int().describe('How many were found as they were written'),
    breaks: z
      .array(
        z.object({
          chain: z.string().describe('A conversation, `platform`, or `unchained`'),
          seq: z.int().describe('Place in the chain'),
          entryId: z.string().optional().describe('The first entry that stands there'),
          reason: z.enum(['changed', 'missing', 'reordered', 'added', 'cut_off', 'head_lost']),
          message: z.string(),
        }),
      )
      .describe('The first thing that is wrong with each chain, of 100 chains at the most'),
    next: z.string().optional().describe('There is more to look at'),
  }),
  errors: [],
  tier: 'admin',
  tool: false,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/audit/verification' },
  examples: [{}],
});
