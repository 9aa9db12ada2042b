import { agentIdSchema } from '@patchbay/contract/ids';
import { z } from 'zod';
import { PlatformError } from '../../kernel/errors.ts';
import { type AgentFile, parseAgentFile } from './agent-file.ts';
import { listOf, withOldNames } from './fields.ts';
import { needsOf } from './model-choice.ts';
import { parseStrictly } from './parse-document.ts';

const MAX_CAPABILITIES = 20;
const MAX_SERVERS = 100;
const DEFAULT_INSTANCE = 'default';

/** Tools of servers of an instance (W-14). */
const capability = z.strictObject({
  /** The instance. */
  mcp: z.string().default(DEFAULT_INSTANCE),
  servers: listOf(z.string(), MAX_SERVERS),
});

/** What is checked where the agent file is. */
const asInFiles = z.unknown().optional();

const members = z.strictObject({
  agentId: agentIdSchema,
  /** `provider:model` (W-15). */
  model: z.string(),
  capabilities: listOf(capability, MAX_CAPABILITIES).default([]),
  /** The secret with the provider's name when left out, where it wants a key. */
  apiKey: z.string().optional(),
  baseUrl: z.string().optional(),
  systemMessage: z.string().optional(),
  name: z.string().optional(),
  description: z.string().optional(),
  mcpEnabled: z.boolean().default(false),
  toolApprovals: asInFiles,
  toolPolicy: asInFiles,
  hitlConfig: asInFiles,
  budget: asInFiles,
  output: asInFiles,
});

/** Whoever writes files likes snake_case: `agent_id` (W-15). */
const SNAKE_CASE = Object.fromEntries(
  Object.keys(members.shape).map(name => [
    name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`),
    name,
  ]),
);

const configuredAgent = withOldNames(members, SNAKE_CASE);

/**
 * The agent files that agents of the configuration are short for (decisions.md 5). Throws a `PlatformError` of kind `invalid` that begins with the place of
 * the agent and names the path in it.
 */
export function filesOfConfiguredAgents(
  agents: readonly { readonly place: string; readonly value: unknown }[],
): AgentFile[] {
  const files = new Map<string, AgentFile>();
  for (const { place, value } of agents) {
    const file = fileOfConfiguredAgent(place, value);
    if (files.has(file.agent))
      throw new PlatformError('invalid', `${place}: the agentId ${file.agent} is there twice; keep one.`);
    files.set(file.agent, file);
  }
  return [...files.values()];
}

function fileOfConfiguredAgent(place: string, value: unknown): AgentFile {
  const agent = parseStrictly(place, configuredAgent, value);
  const { agentId, name = agentId, description, mcpEnabled, hitlConfig, budget, output, ...model } = agent;
  const { capabilities, apiKey = usualKey(agent.model), ...llm } = model;
  const mcpServers = capabilities.flatMap(({ mcp, servers }) =>
    servers.map(server => (mcp === DEFAULT_INSTANCE ? server : `${mcp}/${server}`)),
  );
  const file = {
    ...{ agent: agentId, name, description, mcp_enabled: mcpEnabled, hitlConfig, budget, output },
    llm: { ...llm, apiKey, mcpServers },
  };
  try {
    return parseAgentFile(JSON.parse(JSON.stringify(file)));
  } catch (thrown) {
    if (!(thrown instanceof PlatformError)) throw thrown;
    const { kind, message } = thrown;
    throw new PlatformError(kind, `${place}: ${message}`, { cause: thrown });
  }
}

/** A model there is not is found out with the rest of the file. */
function usualKey(model: string): string | undefined {
  try {
    const { provider, key } = needsOf(model);
    return key ? `\${vault:${provider}}` : undefined;
  } catch {
    return undefined;
  }
}
