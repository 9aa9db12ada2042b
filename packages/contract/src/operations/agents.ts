import { z } from 'zod';
import { defineOperation } from '../operation.ts';

export const deployAgentFile = defineOperation({
  name: 'deploy_agent_file',
  title: 'Deploy an agent file',
  description:
    'Saves the documents of one agent file (dictionary, rules, output, workflow, agent) as new versions where they changed, and deploys the agent. The same file again changes nothing.',
  input: z.object({
    file: z
      .record(z.string(), z.unknown())
      .describe('The agent file as JSON; the docs page agent-files shows its members'),
  }),
  output: z.object({
    agentId: z.string(),
    agentVersion: z.int(),
    status: z.enum(['READY', 'ERROR']),
    mcpEnabled: z.boolean(),
    documents: z.array(z.object({ resource: z.string(), changed: z.boolean() })),
  }),
  tier: 'author',
  tool: false,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  runsTurn: false,
  rest: { method: 'POST', path: '/agent-files' },
  examples: [],
});
