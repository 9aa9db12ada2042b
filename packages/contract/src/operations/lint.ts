import { z } from 'zod';
import { defineOperation, type Family, READS } from '../operation.ts';
import { latestVersion } from './arguments.ts';

const family: Family = {
  name: 'Linting',
  description: 'Look at agents without running them.',
};

/** What is looked for, most of it: parts of an agent that can never do anything. */
export const LINT_CODES = [
  'unknown-reference',
  'does-not-compile',
  'dead-rule',
  'unreachable-output',
  'unheard-action',
  'idle-property',
  'idle-call',
  'idle-task',
  'unasked-word',
  'shadowed-quick-reply',
  'plain-key',
  'unknown-secret',
  'unknown-variable',
  'unknown-server',
  'not-looked-at',
] as const;
export type LintCode = (typeof LINT_CODES)[number];

export const MAX_FINDINGS = 500;

export const lintAgent = defineOperation({
  name: 'lint_agent',
  family,
  title: 'Lint an agent',
  description:
    'Says what in an agent can never do anything, or is not there: rules that never fire, outputs that are never said, actions nobody hears, words no rule asks for, references to nothing. Takes a saved agent by its id, or an agent file; both get the same answer.',
  input: z.object({
    agentId: z.string().optional().describe('Optional. Id of the agent; this or file'),
    version: latestVersion,
    file: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('Optional. The agent file as JSON; this or agentId'),
  }),
  output: z.object({
    agentId: z.string(),
    errors: z.int(),
    warnings: z.int(),
    findings: z
      .array(
        z.object({
          severity: z.enum(['error', 'warning']),
          code: z.enum(LINT_CODES),
          place: z.string().describe('Which document, and where in it'),
          says: z.string(),
          mend: z.string().describe('What to do about it'),
        }),
      )
      .describe(`At most ${MAX_FINDINGS}; errors and warnings count them all`),
  }),
  errors: ['not_found', 'agent_not_found'],
  tier: 'author',
  tool: false,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'POST', path: '/lint' },
  examples: [{ agentId: 'demo' }],
});
