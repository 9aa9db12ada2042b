import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import { isConversationId } from '@patchbay/contract/ids';
import { attachments } from '@patchbay/contract/operations/arguments';
import { z } from 'zod';
import { type AgentCalls, replyOf } from '../../agents/call/agent-calls.ts';
import { isWaiting, type TurnAnswer } from '../../agents/turn/turn-answer.ts';
import { PlatformError } from '../../kernel/errors.ts';
import { pathText } from '../../kernel/path-text.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { Caller, McpDoor, PreparedCall } from '../mcp/door.ts';
import { jsonRpcErrorResponse } from '../mcp/json-rpc.ts';
import type { AskedCalls } from './asked-calls.ts';
import type { CallRate } from './call-rate.ts';

/** What the door shows of an agent: its card (B-51). */
export interface AgentCard {
  readonly agentId: string;
  readonly name: string;
  readonly description: string;
}

export interface AgentCaller extends Caller {
  readonly card: AgentCard;
}

/** The same shape for every agent: message in, reply out (B-53, B-54). */
const INPUT_SCHEMA: Tool['inputSchema'] = {
  type: 'object',
  properties: {
    message: { type: 'string', minLength: 1, description: 'What to say to the agent' },
    context_id: {
      type: 'string',
      description:
        'Optional. Conversation to go on with; if omitted, the agent remembers nothing of earlier calls',
    },
    idempotency_key: {
      type: 'string',
      minLength: 1,
      maxLength: 255,
      description:
        'Optional. The same key with the same arguments runs the agent once and repeats its answer',
    },
    attachments: {
      type: 'array',
      maxItems: 5,
      items: {
        type: 'object',
        properties: { file_id: { type: 'string' } },
        required: ['file_id'],
      },
      description: 'Optional. Files you uploaded before, by the ids of POST /api/v1/files/presign-upload',
    },
  },
  required: ['message'],
};

const MESSAGE_MISSING: PreparedCall = {
  streams: false,
  run: async () => ({
    isError: true,
    content: [
      {
        type: 'text',
        text: JSON.stringify({ error: 'message: a text is needed.', errorCode: 'BAD_REQUEST' }),
      },
    ],
  }),
  abandon: async () => {},
};

/** `/{agentId}/mcp`: one agent as one tool (seed 002). */
export function createAgentDoor(deps: {
  readonly calls: AgentCalls;
  readonly asked: AskedCalls;
  readonly version: string;
  /** What counts is every call, also one that is refused afterwards; lists and the handshake are free. */
  readonly rate: CallRate;
  readonly onRateLimited: (agentId: string, principal: Principal) => void;
}): McpDoor<AgentCaller> {
  const { calls, asked, rate } = deps;
  return {
    resource: ({ card }) => `agent:${card.agentId}`,
    capabilities: { tools: {} },
    serverInfo: ({ card }) => ({ name: card.agentId, title: card.name, version: deps.version }),
    instructions: ({ card }) => card.description || undefined,

    tools: ({ card }) => [
      {
        name: card.agentId,
        title: card.name,
        description: card.description || `Talk to ${card.name}.`,
        inputSchema: INPUT_SCHEMA,
        annotations: {
          title: card.name,
          readOnlyHint: false,
          destructiveHint: false,
          idempotentHint: false,
          openWorldHint: true,
        },
      },
    ],

    isQuestion: id => id.startsWith('pause_'),
    takeAnswer: asked.takeAnswer,

    async prepareCall(caller, tool, args, era, repeated): Promise<PreparedCall> {
      const { principal, card, log } = caller;
      if (!(await rate.admits(principal.credential, card.agentId))) {
        deps.onRateLimited(card.agentId, principal);
        log.info('too many calls of one credential', {
          agentId: card.agentId,
          credential: principal.credential,
        });
        throw new PlatformError(
          'rate_limited',
          'Too many calls of this agent within a minute; try again later.',
        );
      }
      if (tool !== card.agentId) {
        throw new PlatformError('invalid', `name: this endpoint has one tool, "${card.agentId}".`);
      }
      // The stateless era wants arguments that break the tool's schema answered as a result, for the model to read; what the
      // seed documents, such as an empty message, keeps its status in every era (B-78).
      if (era === 'stateless' && args.message === undefined) return MESSAGE_MISSING;
      const call = readArguments(args);
      const sent = { caller, args: call };
      if (repeated) return asked.repeat(sent, repeated);
      const admission = await calls
        .admit({
          principal,
          agentId: card.agentId,
          message: call.message,
          contextId: call.context_id ?? undefined,
          idempotencyKey: call.idempotency_key ?? undefined,
          attachments: call.attachments?.map(({ file_id }) => file_id),
        })
        .catch(thrown => {
          throw doorError(thrown);
        });
      switch (admission.kind) {
        case 'replay':
          return {
            // One that waits may ask again, and then go on.
            streams: isWaiting(admission.answer),
            run: context => asked.replay(sent, context, admission.answer),
            abandon: async () => {},
          };
        case 'claimed':
          return {
            streams: true,
            run: context => asked.run(sent, context, admission.turn.run),
            abandon: () => admission.turn.release(),
          };
      }
    },
  };
}

/**
 * One answer for every credential that does not open this agent, and for every agent that is not there to be opened:
 * nobody learns which (decisions.md 3, B-11, B-75, B-77).
 */
export function agentUnauthorized(challenge: string): Response {
  return jsonRpcErrorResponse(
    null,
    { code: 401, message: 'A credential that opens this agent is needed.', data: { code: 'unauthorized' } },
    401,
    { 'WWW-Authenticate': challenge },
  );
}

/** Members the gateway does not know are accepted and not looked at (B-56). */
const callArguments = z.looseObject({
  message: z.string('a text is needed'),
  context_id: z.string().refine(isConversationId, 'this is not the id of a conversation').nullish(),
  idempotency_key: z.string('a text is needed').nullish(),
  attachments: attachments.nullish(),
});

export type CallArguments = z.output<typeof callArguments>;

function readArguments(args: Record<string, unknown>): CallArguments {
  const parsed = callArguments.safeParse(args);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  throw new PlatformError('invalid', `${pathText(issue.path)}: ${issue.message}.`);
}

/** The door has opened the agent before: one that is gone since is not available, and no more is said (decisions.md 3). */
function doorError(thrown: unknown): unknown {
  return thrown instanceof PlatformError && thrown.kind === 'agent_not_found'
    ? new PlatformError('unavailable', 'The agent is not available.')
    : thrown;
}

/** One text, and the same with its context as JSON (docs/decisions, the agent door says its context). */
export function toResult(answer: TurnAnswer): CallToolResult {
  const { text, contextId, quickReplies } = replyOf(answer);
  return {
    content: [{ type: 'text' as const, text }],
    structuredContent: {
      text,
      context_id: contextId,
      ...(answer.status !== undefined && { status: answer.status }),
      ...(quickReplies.length > 0 && { quick_replies: quickReplies }),
    },
  };
}
