import type { Target } from './load.ts';
import { statelessCall } from './two-rules.ts';

/** What a turn of the bench makes its model do; the model reads it in what the person says. */
export const SHAPES = {
  'no call': { message: 'calls 0', says: 'after 0 calls' },
  '1 call': { message: 'calls 1', says: 'after 1 calls' },
  '5 calls': { message: 'calls 5', says: 'after 5 calls' },
  '5 calls at once': { message: 'calls 5 at once', says: 'after 5 calls' },
  'streamed in 20 pieces': { message: 'stream', says: 'piece 19' },
} as const;

export type Shape = keyof typeof SHAPES;

/** Every loop of the bench tells its model the same. */
const SYSTEM = 'You are the agent of the bench. Be short.';

/** The pieces of a streamed answer, and how long its model waits between two of them where it is to be slow. */
export const PIECES = Array.from({ length: 20 }, (_, index) => `piece ${index} `);
export const SLOW = { message: 'stream slowly', betweenMs: 2 };

export const MODEL_AGENT = 'model_agent';

/** An agent that is nothing but a model with the tools of one registered server. It is not told earlier turns, as the loops beside it are not. */
export function modelAgent(modelServer: string, server: string): Record<string, unknown> {
  const parameters = { model: 'scripted', baseUrl: `${modelServer}/v1`, systemMessage: SYSTEM };
  const task = {
    ...{ id: 'main', type: 'openai-compatible', parameters },
    ...{ mcpServers: [server], conversationHistoryLimit: 0 },
  };
  return { agent: MODEL_AGENT, name: 'Model agent', mcp_enabled: true, llm: { tasks: [task] } };
}

/** A turn at the agent door, in a conversation of each connection's own; with progress where its answer is streamed. */
export function modelTurnCall(
  headers: Record<string, string> | undefined,
  conversations: readonly string[] | undefined,
  shape: Shape,
): Pick<Target, 'headers' | 'bodyOf' | 'expects'> {
  const { message, says } = SHAPES[shape];
  return statelessCall(
    headers,
    index => ({ name: MODEL_AGENT, arguments: { message, context_id: conversations?.[index] } }),
    says,
    shape === 'streamed in 20 pieces' ? { progressToken: 1 } : {},
  );
}

/** The same at a loop of others, which is a server of its own. */
export function loopCall(shape: Shape): Pick<Target, 'headers' | 'bodyOf' | 'expects'> {
  const { message, says } = SHAPES[shape];
  const body = JSON.stringify({ system: SYSTEM, message, stream: shape === 'streamed in 20 pieces' });
  return { headers: {}, bodyOf: () => body, expects: says };
}
