import { z } from 'zod';
import { ENVIRONMENTS } from '../environments.ts';
import type { ErrorKind } from '../errors.ts';
import { defineOperation, type Family, READS, RUNS_AGENT } from '../operation.ts';
import { environment, limit } from './arguments.ts';
import { turnStream } from './frames.ts';

const family: Family = {
  name: 'Conversations',
  description: 'Talk to agents, and read what was said.',
};

export const CONVERSATION_STATES = [
  'READY',
  'IN_PROGRESS',
  'ENDED',
  'EXECUTION_INTERRUPTED',
  'ERROR',
  'AWAITING_HUMAN',
] as const;
export type ConversationState = (typeof CONVERSATION_STATES)[number];

/** What a conversation may wait for that is approved or rejected. */
export const APPROVAL_TYPES = ['RULE', 'TOOL_CALL'] as const;

/** What a conversation may wait for. */
export const PAUSE_TYPES = [...APPROVAL_TYPES, 'SIGN_IN'] as const;

/** How a turn may end for who waits for it, besides with an answer: interrupted by somebody else, or by the platform. */
export const TURN_ERRORS = [
  'conflict',
  'unavailable',
  'timeout',
  'cancelled',
] as const satisfies readonly ErrorKind[];

const ignoredEnvironment = z
  .string()
  .optional()
  .describe('Deprecated and ignored: a conversation keeps the environment it was started in');

const quickReply = z.object({
  value: z.string(),
  expressions: z.string().optional(),
  isDefault: z.boolean().optional(),
});

/** One bubble of an answer. */
export const outputItemSchema = z.looseObject({ type: z.string(), text: z.string().optional() });
export type OutputItem = z.infer<typeof outputItemSchema>;

/** What one turn left for readers (platform.md 1.7). */
export const conversationOutputSchema = z.looseObject({
  input: z.string().optional(),
  expressions: z.array(z.string()).optional(),
  intents: z.array(z.string()).optional(),
  actions: z.array(z.string()).optional(),
  output: z.array(outputItemSchema).optional(),
  quickReplies: z.array(quickReply).optional(),
});
export type ConversationOutput = z.infer<typeof conversationOutputSchema>;

/** One remembered value of a turn. */
export const stepDatumSchema = z.object({
  key: z.string(),
  value: z.unknown(),
  timestamp: z.int(),
  originWorkflowId: z.string().optional(),
});
export type StepDatum = z.infer<typeof stepDatumSchema>;

/** A conversation as readers see it; sections left out were not asked for. */
export const conversationSnapshotSchema = z.looseObject({
  conversationId: z.string(),
  agentId: z.string(),
  agentVersion: z.int(),
  userId: z.string(),
  environment: z.enum(ENVIRONMENTS),
  conversationState: z.enum(CONVERSATION_STATES),
  conversationSteps: z
    .array(z.object({ conversationStep: z.array(stepDatumSchema), timestamp: z.int() }))
    .optional(),
  conversationOutputs: z.array(conversationOutputSchema).optional(),
  conversationProperties: z.record(z.string(), z.unknown()).optional(),
  undoAvailable: z.boolean().optional(),
  redoAvailable: z.boolean().optional(),
  /** Since when, epoch ms; this and what follows only while the conversation waits for a person. */
  hitlPausedAt: z.int().optional(),
  hitlPauseType: z.string().optional(),
  hitlPauseReason: z.string().optional(),
  hitlTimeoutPolicy: z.string().optional(),
  hitlApprovalTimeout: z.string().optional(),
});
export type ConversationSnapshot = z.infer<typeof conversationSnapshotSchema>;

/** Answer of the talking tools: a reply, or a status that says why the message was not processed. */
export const talkResult = {
  conversationId: z.string().optional(),
  agentId: z.string().optional(),
  environment: z.enum(ENVIRONMENTS).optional(),
  agentResponse: z.string().optional().describe('The reply as one text'),
  agentResponseParts: z
    .array(z.string())
    .optional()
    .describe('The bubbles of the reply, when there are several'),
  quickReplies: z.array(z.string()).optional().describe('What a person may pick next'),
  actions: z.array(z.string()).optional(),
  conversationState: z.enum(CONVERSATION_STATES).optional(),
  response: conversationSnapshotSchema.optional(),
  status: z
    .enum(['BUSY', 'CONVERSATION_NOT_ACTIVE', 'PAUSED_FOR_APPROVAL'])
    .optional()
    .describe(
      'Why the message was not processed, or that the turn waits for a person; absent when it was answered',
    ),
  pauseType: z
    .enum(PAUSE_TYPES)
    .optional()
    .describe(
      'What it waits for: RULE and TOOL_CALL for an approval, SIGN_IN for you to sign in at the address in the reply',
    ),
  tools: z.array(z.string()).optional().describe('The tools whose calls wait for it, by name'),
  suggestNextTool: z.string().optional().describe('The tool that helps on from the status'),
  message: z.string().optional().describe('The status in a sentence'),
};
export const talkResultSchema = z.object(talkResult);
export type TalkResult = z.infer<typeof talkResultSchema>;

export const createConversation = defineOperation({
  name: 'create_conversation',
  family,
  title: 'Start a conversation',
  description:
    'Starts a conversation with a deployed agent. Its greeting is the first step; read it with read_conversation.',
  input: z.object({ agentId: z.string().describe('Id of the agent, from discover_agents'), environment }),
  output: z.object({
    conversationId: z.string(),
    conversationUri: z.string(),
    agentId: z.string(),
    environment: z.enum(ENVIRONMENTS),
  }),
  errors: ['agent_not_found', ...TURN_ERRORS],
  tier: 'converse',
  tool: true,
  annotations: RUNS_AGENT,
  runsTurn: true,
  rest: { method: 'POST', path: '/conversations', successStatus: 201 },
  examples: [{ agentId: 'demo' }],
});

const message = z.string().describe('What to say to the agent');

export const talkToAgent = defineOperation({
  name: 'talk_to_agent',
  family,
  title: 'Talk to an agent in a conversation',
  description:
    'Sends a message into a conversation and waits for the reply, up to the turn limit (five minutes by default). A conversation that is busy with another message answers status BUSY and has not processed this one.',
  input: z.object({
    agentId: z.string().describe('Id of the agent the conversation belongs to'),
    conversationId: z.string().describe('Id of the conversation, from create_conversation'),
    message,
    environment: ignoredEnvironment,
  }),
  output: talkResultSchema,
  errors: ['forbidden', 'not_found', 'agent_not_found', ...TURN_ERRORS],
  tier: 'converse',
  tool: true,
  annotations: RUNS_AGENT,
  runsTurn: true,
  rest: {
    method: 'POST',
    path: '/conversations/{conversationId}/messages',
    stream: turnStream({ result: talkResultSchema.optional() }),
  },
  examples: [],
});

export const chatWithAgent = defineOperation({
  name: 'chat_with_agent',
  family,
  title: 'Chat with an agent',
  description:
    'The shortest way to talk: starts a conversation when none is given, sends the message and answers with the reply and the conversationId to go on with.',
  input: z.object({
    agentId: z.string().describe('Id of the agent, from discover_agents'),
    message,
    conversationId: z
      .string()
      .optional()
      .describe('Optional. Conversation to go on with; if omitted, a new one is started'),
    environment,
  }),
  output: talkResultSchema,
  errors: ['forbidden', 'not_found', 'agent_not_found', ...TURN_ERRORS],
  tier: 'converse',
  tool: true,
  annotations: RUNS_AGENT,
  runsTurn: true,
  rest: { method: 'POST', path: '/chat', stream: turnStream({ result: talkResultSchema.optional() }) },
  examples: [{ agentId: 'demo', message: 'hello' }],
});

export const readConversation = defineOperation({
  name: 'read_conversation',
  family,
  title: 'Read a conversation',
  description:
    'What a conversation holds: state, steps and outputs. By default only the latest step; set currentStepOnly to false for all of them.',
  input: z.object({
    agentId: z.string().optional().describe('Deprecated and ignored: the conversation knows its agent'),
    conversationId: z.string().describe('Id of the conversation'),
    environment: ignoredEnvironment,
    currentStepOnly: z.boolean().default(true).describe('Optional. Only the latest step; default: true'),
    returnDetailed: z
      .boolean()
      .default(false)
      .describe(
        'Optional. Also the values agents keep for themselves, such as expressions and rule results; default: false',
      ),
    returningFields: z
      .string()
      .optional()
      .describe(
        'Optional. Comma list of what to return: conversationSteps, conversationOutputs, conversationProperties, or keys inside the outputs such as output or actions. If omitted, everything',
      ),
  }),
  output: conversationSnapshotSchema,
  errors: ['forbidden', 'not_found'],
  tier: 'converse',
  tool: true,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/conversations/{conversationId}' },
  examples: [],
});

export const readConversationLog = defineOperation({
  name: 'read_conversation_log',
  family,
  title: 'Read a conversation as text',
  description: 'A plain text transcript of a conversation.',
  input: z.object({
    conversationId: z.string().describe('Id of the conversation'),
    logSize: z
      .int()
      .min(1)
      .optional()
      .describe('Optional. Only the last so many turns; if omitted, all of them'),
  }),
  output: z.object({ conversationId: z.string(), log: z.string() }),
  errors: ['forbidden', 'not_found'],
  tier: 'converse',
  tool: true,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/conversations/{conversationId}/log' },
  asText: ({ log }) => log,
  examples: [],
});

export const listConversations = defineOperation({
  name: 'list_conversations',
  family,
  title: 'List conversations',
  description: "Conversations with one agent, latest first: your own, or everybody's for an admin.",
  input: z.object({
    agentId: z.string().describe('Id of the agent'),
    agentVersion: z
      .int()
      .min(1)
      .optional()
      .describe('Optional. Only conversations of this version; if omitted, all versions'),
    conversationState: z
      .enum(CONVERSATION_STATES)
      .optional()
      .describe('Optional. Only conversations in this state, for example READY, IN_PROGRESS, ENDED or ERROR'),
    limit,
  }),
  output: z.object({
    agentId: z.string(),
    count: z.int(),
    conversations: z.array(
      z.object({
        conversationId: z.string(),
        resource: z.string(),
        agentName: z.string(),
        userId: z.string(),
        agentResource: z.string(),
        conversationStepSize: z.int().describe('Number of turns, the greeting included'),
        environment: z.enum(ENVIRONMENTS),
        conversationState: z.enum(CONVERSATION_STATES),
        createdOn: z.int(),
        lastModifiedOn: z.int(),
      }),
    ),
  }),
  errors: [],
  tier: 'converse',
  tool: true,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/conversations' },
  examples: [{ agentId: 'demo' }],
});
