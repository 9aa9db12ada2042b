import { z } from 'zod';
import { defineOperation, type Family, RUNS_AGENT } from '../operation.ts';
import { environment } from './arguments.ts';
import { TURN_ERRORS, talkResultSchema } from './conversation.ts';

const family: Family = {
  name: 'Tracing',
  description: 'See why an agent answered what it answered.',
};

/** How a condition came out. Only SUCCESS lets a rule fire. */
const conditionState = z.enum(['SUCCESS', 'FAIL', 'NOT_EXECUTED', 'ERROR']);

const explainedCondition = z.object({
  depth: z.int().describe('0 for those of the rule, 1 for those inside one of these, and so on'),
  type: z.string(),
  state: conditionState,
  asked: z.string().describe('What it asks for'),
  found: z.string().optional().describe('What the turn had where it looks'),
});
export type ExplainedCondition = z.infer<typeof explainedCondition>;

const explainedRule = z.object({
  group: z.string(),
  rule: z.string(),
  fired: z.boolean(),
  actions: z.array(z.string()).describe('What it raised'),
  conditions: z.array(explainedCondition).describe('Those inside another one follow it'),
});
export type ExplainedRule = z.infer<typeof explainedRule>;

const tracedStep = z.object({
  stepIndex: z.int().describe('The turn; 0 is the greeting'),
  type: z.string(),
  durationMs: z.int(),
  changed: z.record(z.string(), z.unknown()).describe('What the step put into the turn'),
  rules: z
    .array(explainedRule)
    .optional()
    .describe('Of a rules step, the rules that were looked at; those behind a winner were not'),
});
export type TracedStep = z.infer<typeof tracedStep>;

export const traceTurn = defineOperation({
  name: 'trace_turn',
  family,
  title: 'Run a turn and see why',
  description:
    'Runs a turn as talk_to_agent does, and tells besides the answer what each step changed, how long it took, and which rules fired and why. Only for those whose agent it is.',
  input: z.object({
    agentId: z.string().describe('Id of the agent'),
    conversationId: z
      .string()
      .optional()
      .describe('Optional. Conversation to go on with; if omitted, a new one is started, with its greeting'),
    message: z
      .string()
      .optional()
      .describe('Optional where a conversation is started. What to say to the agent'),
    environment,
  }),
  output: talkResultSchema.extend({
    error: z.string().optional().describe('Why the turn failed; the steps say how far it went'),
    steps: z.array(tracedStep).describe('Empty when the message was not processed'),
  }),
  errors: ['forbidden', 'not_found', 'agent_not_found', ...TURN_ERRORS],
  tier: 'author',
  tool: false,
  annotations: RUNS_AGENT,
  runsTurn: true,
  rest: { method: 'POST', path: '/traced-turns' },
  examples: [{ agentId: 'demo', message: 'hello' }],
});
