import { z } from 'zod';
import { approvalTimeout, missingTimeout, pauseReason, timeoutPolicy } from './timeout.ts';
import { patternProblem } from './tool-pattern.ts';

const MAX_PATTERNS = 100;
const MAX_RULES = 50;
const MAX_LINES = 20;

function listOf<T extends z.ZodType>(entry: T, max: number) {
  return z.array(entry).max(max, `must have at most ${max} entries`);
}

const pattern = z.string().superRefine((text, context) => {
  const problem = patternProblem(text);
  if (problem !== undefined) context.addIssue(problem);
});

const friction = {
  timeoutPolicy: timeoutPolicy.optional(),
  approvalTimeout: approvalTimeout.optional(),
  /** What whoever decides is shown. */
  pauseReason: pauseReason.optional(),
  /** What the person in the conversation is told meanwhile; `{toolNames}` stands for the tools. */
  pendingMessage: pauseReason.optional(),
};

const shared = {
  /** Patterns of tools whose calls a person must approve. */
  requireApproval: listOf(pattern, MAX_PATTERNS).default([]),
  ...friction,
  /** There are no other turns with tools that wait. */
  inGroupTurns: z.literal('REJECT', 'must be REJECT').optional(),
  /** How a pause is, by its tools; they open and close no gate. */
  rules: listOf(z.strictObject({ match: pattern, ...friction }), MAX_RULES).default([]),
};

const maxPausesPerTurn = z.int().min(1).max(10);
const maxAutoApprovalsPerTurn = z.int().min(0).max(10);
const onNoProgress = z.enum(['WAIT_FOR_HUMAN', 'AUTO_REJECT', 'ABORT']);

const ofAgent = z.strictObject({
  ...shared,
  /** Patterns of tools that are not asked about, whatever `requireApproval` says. */
  exempt: listOf(pattern, MAX_PATTERNS).default([]),
  maxPausesPerTurn: maxPausesPerTurn.default(3),
  /** How many pauses of a turn the clock may approve. */
  maxAutoApprovalsPerTurn: maxAutoApprovalsPerTurn.default(2),
  /** What the clock does with the next one. */
  onNoProgress: onNoProgress.default('WAIT_FOR_HUMAN'),
});

/** A task asks for more than its agent and never for less: what it exempts is read and has no effect (platform.md 5.2). */
const ofTask = z
  .strictObject({
    ...shared,
    exempt: listOf(pattern, MAX_PATTERNS).default([]),
    maxPausesPerTurn: maxPausesPerTurn.optional(),
    maxAutoApprovalsPerTurn: maxAutoApprovalsPerTurn.optional(),
    onNoProgress: onNoProgress.optional(),
  })
  .superRefine((config, context) => checkTimeouts(config, undefined, context, []));

const word = z.enum(['allow', 'ask', 'deny']);
const KINDS = ['destructive', 'read_only', 'idempotent', 'open_world'] as const;

/** The first line decides whose word about the tool is true; `else` is every tool, and the last line (W-97). */
const toolPolicy = z
  .array(z.partialRecord(z.enum([...KINDS, 'else']), word))
  .min(1, 'must have a line; leave it out for no policy')
  .max(MAX_LINES, `must have at most ${MAX_LINES} lines`)
  .superRefine((lines, context) => {
    const isElse = (line: object) => Object.hasOwn(line, 'else');
    for (const [index, line] of lines.entries()) {
      const issue = (message: string) => context.addIssue({ code: 'custom', path: [index], message });
      if (Object.keys(line).length !== 1) issue('must have one member, such as { "destructive": "deny" }');
      else if (isElse(line) !== (index === lines.length - 1))
        issue(isElse(line) ? 'must be the last line' : 'must be { "else": ... }, as it is the last line');
    }
  });

export type ToolApprovalsOfAgent = z.output<typeof ofAgent>;
export type ToolApprovalsOfTask = z.output<typeof ofTask>;
export type ToolPolicy = z.output<typeof toolPolicy>;

/** What documents may say of calls that need a person. */
export const approvalFields = {
  /** In `hitlConfig` of an agent; `checkTimeouts` is asked besides, with what the agent says itself. */
  ofAgent,
  ofTask,
  toolPolicy,
};

/** Says where a policy has no end; `inherited` is how long pauses wait where nothing else is said. */
export function checkTimeouts(
  config: ToolApprovalsOfAgent | ToolApprovalsOfTask,
  inherited: string | undefined,
  context: z.core.$RefinementCtx,
  place: readonly PropertyKey[],
): void {
  const say = (path: readonly PropertyKey[], message: string | undefined) => {
    if (message !== undefined)
      context.addIssue({ code: 'custom', path: [...place, ...path, 'approvalTimeout'], message });
  };
  say([], missingTimeout(config, inherited));
  for (const [index, rule] of config.rules.entries())
    say(['rules', index], missingTimeout(rule, config.approvalTimeout ?? inherited));
}
