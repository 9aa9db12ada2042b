import { OPERATIONS } from '@patchbay/contract/operations';
import type { Door } from './judge.ts';

interface ToolCall {
  readonly tool: string;
  readonly args: Record<string, string>;
}

/** What a door must show to a client that knows nothing of it. */
export interface Expectations {
  /** Names of all tools, in the order of the list. */
  readonly tools: readonly string[];
  /** A call that works, with text its answer must contain. */
  readonly call: ToolCall & { readonly answers: string };
  /** A call the door refuses: as a tool error where the answer is a result, else as an error of the request. */
  readonly refusedCall: ToolCall & { readonly as: 'toolError' | 'requestError'; readonly says: string };
  /** A resource and text it must contain, at the door that has resources. */
  readonly resource?: { readonly uri: string; readonly contains: string };
  /** A message for the demo agent, in a conversation or in a new one. */
  readonly talk: (message: string, conversationId?: string) => ToolCall;
  /** The member of its structured answer that names the conversation. */
  readonly conversationIn: string;
}

export const EXPECTATIONS: Readonly<Record<Door['name'], Expectations>> = {
  operator: {
    tools: OPERATIONS.filter(operation => operation.tool).map(operation => operation.name),
    call: { tool: 'read_docs', args: { name: 'getting-started' }, answers: '# ' },
    refusedCall: { tool: 'read_docs', args: { name: 'no-such-page' }, as: 'toolError', says: 'NOT_FOUND' },
    resource: { uri: 'patchbay://docs/getting-started', contains: '# ' },
    talk: (message, conversationId) => ({
      tool: 'chat_with_agent',
      args: { agentId: 'demo', message, ...(conversationId && { conversationId }) },
    }),
    conversationIn: 'conversationId',
  },
  agent: {
    tools: ['demo'],
    call: { tool: 'demo', args: { message: 'How do I connect a client?' }, answers: 'connect' },
    refusedCall: {
      tool: 'demo',
      args: { message: 'hello', context_id: 'not-a-conversation' },
      as: 'requestError',
      says: 'context_id: this is not the id of a conversation',
    },
    talk: (message, conversationId) => ({
      tool: 'demo',
      args: { message, ...(conversationId && { context_id: conversationId }) },
    }),
    conversationIn: 'context_id',
  },
};
