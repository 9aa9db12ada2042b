import type { Client } from '@patchbay/contract/client';
import { toolCallingAgent } from './calling-agent.ts';

export interface Conversation {
  readonly agentId: string;
  readonly conversationId: string;
}

let deployed = 0;

/** Deploys an agent that calls tools as the document says, and begins a conversation with it. */
export async function conversationWith(
  client: Client,
  document: Parameters<typeof toolCallingAgent>[1],
  more: object = {},
): Promise<Conversation> {
  deployed += 1;
  const agentId = `caller-${deployed}`;
  await client.call('deploy_agent_file', { file: { ...toolCallingAgent(agentId, document), ...more } });
  return conversationOf(client, agentId);
}

export async function conversationOf(client: Client, agentId: string): Promise<Conversation> {
  const { conversationId } = await client.call('create_conversation', { agentId });
  return { agentId, conversationId: conversationId! };
}

/** Says something, and answers what the agent's templates know of its calls. */
export async function heardOf(
  client: Client,
  conversation: Conversation,
  message: string,
): Promise<Record<string, unknown>> {
  const { agentResponse } = await client.call('talk_to_agent', { ...conversation, message });
  return JSON.parse(agentResponse!) as Record<string, unknown>;
}
