import { z } from 'zod';
import { DELETES, defineOperation, type Family, READS, RUNS_AGENT, UPDATES } from '../operation.ts';
import {
  APPROVAL_TYPES,
  CONVERSATION_STATES,
  conversationSnapshotSchema,
  PAUSE_TYPES,
} from './conversation.ts';

const family: Family = {
  name: 'Approvals',
  description: 'Turns that wait for a person: find them, decide, cancel; and take turns back.',
};

const timeoutPolicy = z.enum(['AUTO_APPROVE', 'AUTO_REJECT', 'ABORT', 'WAIT_INDEFINITELY']);

/** A call of a tool that waits. */
const pendingToolCall = z.object({
  callId: z.string().describe('Names it in toolDecisions'),
  toolName: z.string(),
  source: z.string().describe('Where the tool comes from, such as mcp or http'),
  server: z.string(),
  argumentsRedacted: z
    .string()
    .describe('JSON of exactly what is sent, with texts under names of credentials taken out'),
  argsTruncated: z.boolean().describe('argumentsRedacted is cut; detail full has it whole'),
  gateReason: z.string(),
  matchedRule: z.string().optional(),
});

const MAX_CALLS = 100;

const toolDecisions = z
  .record(
    z.string().max(100),
    z.strictObject({
      verdict: z
        .string()
        .transform(text => text.trim().toUpperCase())
        .pipe(z.enum(['APPROVED', 'REJECTED'])),
      note: z.string().max(1024).optional(),
      amendedArguments: z.record(z.string(), z.unknown()).optional(),
    }),
  )
  .refine(decisions => Object.keys(decisions).length <= MAX_CALLS, `must have at most ${MAX_CALLS} members`)
  .optional()
  .describe(
    'Optional. By callId of get_approval_status: another verdict for this call, a note, and with APPROVED the arguments that are sent in place of those that were asked about. Calls that are not named have the verdict of the whole',
  );

const conversationId = z.string().describe('Id of the conversation');

/** A number, also written as text; anything that is no number means the default (platform.md 2.0). */
const pendingLimit = z
  .union([z.string(), z.number()])
  .default('200')
  .describe('Optional. How many at the most, up to 1000; default: 200');

export const listPendingApprovals = defineOperation({
  name: 'list_pending_approvals',
  family,
  title: 'List pending approvals',
  description:
    'Conversations that wait for an approval, longest waiting first: all of them for an admin or approver, else your own. Decide with resume_conversation.',
  input: z.object({ limit: pendingLimit }),
  output: z.object({
    count: z.int(),
    approvals: z.array(
      z.object({
        conversationId: z.string(),
        agentId: z.string(),
        userId: z.string(),
        pausedAt: z.int(),
        pauseId: z.string(),
        pauseReason: z.string(),
        timeoutPolicy,
        approvalTimeout: z.string(),
        pauseType: z.enum(APPROVAL_TYPES),
        toolNames: z.array(z.string()).optional(),
      }),
    ),
  }),
  errors: [],
  tier: 'hitl',
  tool: true,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/approvals' },
  examples: [{}],
});

export const getApprovalStatus = defineOperation({
  name: 'get_approval_status',
  family,
  title: 'Get the approval status of a conversation',
  description:
    'Whether a conversation waits for an approval, since when and why; calls of tools that wait are in pendingToolCalls. Fields about the pause are empty when it does not wait. Give the pauseId to resume_conversation to decide exactly this pause.',
  input: z.object({
    conversationId,
    detail: z
      .enum(['summary', 'full'])
      .default('summary')
      .describe(
        'Optional. full adds what the conversation holds, and all of long arguments; default: summary',
      ),
  }),
  output: z.object({
    conversationId: z.string(),
    state: z.enum(CONVERSATION_STATES),
    pauseType: z.union([z.enum(PAUSE_TYPES), z.literal('')]),
    pausedAt: z.union([z.int(), z.literal('')]),
    pauseId: z.string(),
    pauseReason: z.string(),
    timeoutPolicy: z.union([timeoutPolicy, z.literal('')]),
    approvalTimeout: z.string(),
    pendingToolCalls: z.array(pendingToolCall).optional(),
    conversation: conversationSnapshotSchema.optional(),
  }),
  errors: ['not_found', 'forbidden'],
  tier: 'hitl',
  tool: true,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/conversations/{conversationId}/approval' },
  examples: [],
});

export const resumeConversation = defineOperation({
  name: 'resume_conversation',
  family,
  title: 'Approve or reject',
  description:
    'Decides what a conversation waits for. APPROVED lets its turn go on; REJECTED skips the rest of it and says the note, or where calls of tools wait has the model told so. The verdict is for all calls that wait, once, and exactly as get_approval_status shows them. The turn goes on by itself: read the conversation for its answer.',
  input: z.object({
    conversationId,
    verdict: z.string().describe('APPROVED or REJECTED'),
    note: z
      .string()
      .max(4096)
      .optional()
      .describe('Optional. Why; with REJECTED it is what the agent says. 4096 characters at the most'),
    pauseId: z
      .string()
      .optional()
      .describe(
        'Optional. The pause that is meant, from get_approval_status: another one is then not decided. If omitted, whatever the conversation waits for',
      ),
    toolDecisions,
  }),
  restOnly: ['toolDecisions'],
  output: z.object({
    status: z.literal('RESUMED'),
    conversationId: z.string(),
    verdict: z.enum(['APPROVED', 'REJECTED']),
  }),
  errors: ['forbidden', 'not_found', 'pause_changed', 'wrong_state'],
  tier: 'hitl',
  tool: true,
  annotations: { ...RUNS_AGENT, destructiveHint: true },
  runsTurn: false,
  rest: { method: 'POST', path: '/conversations/{conversationId}/resume' },
  examples: [],
});

export const cancelConversation = defineOperation({
  name: 'cancel_conversation',
  family,
  title: 'Cancel a turn',
  description:
    'Ends a turn that waits for an approval or is running. A conversation whose waiting turn is cancelled takes no more messages.',
  input: z.object({ conversationId }),
  output: z.object({ status: z.literal('CANCELLED'), conversationId: z.string() }),
  errors: ['forbidden', 'not_found', 'wrong_state'],
  tier: 'hitl',
  tool: true,
  annotations: DELETES,
  runsTurn: false,
  rest: { method: 'POST', path: '/conversations/{conversationId}/cancel' },
  examples: [],
});

const moved = z.object({
  conversationId: z.string(),
  stepCount: z.int(),
  undoAvailable: z.boolean(),
  redoAvailable: z.boolean(),
});

export const undoTurn = defineOperation({
  name: 'undo_turn',
  family,
  title: 'Undo the last turn',
  description:
    'Takes the last turn of a conversation back with everything it changed in the conversation. What it did outside stays done. A new message makes what was undone past.',
  input: z.object({ conversationId }),
  output: moved,
  errors: ['forbidden', 'not_found', 'wrong_state'],
  tier: 'converse',
  tool: false,
  annotations: DELETES,
  runsTurn: false,
  rest: { method: 'POST', path: '/conversations/{conversationId}/undo' },
  examples: [],
});

export const redoTurn = defineOperation({
  name: 'redo_turn',
  family,
  title: 'Redo an undone turn',
  description: 'Brings the turn back that was undone last; nothing is run again.',
  input: z.object({ conversationId }),
  output: moved,
  errors: ['forbidden', 'not_found', 'wrong_state'],
  tier: 'converse',
  tool: false,
  annotations: UPDATES,
  runsTurn: false,
  rest: { method: 'POST', path: '/conversations/{conversationId}/redo' },
  examples: [],
});
