import { z } from 'zod';
import type { Pause, Verdict } from '../../agents/pause/pauses.ts';
import { callsIn, type ToolCallsRequest } from '../../agents/pause/tool-calls.ts';
import { withHiddenShown } from '../../connections/tool/hidden-text.ts';
import type { Answer, FormQuestion } from '../mcp/door.ts';
import type { AgentCard } from './agent-door.ts';

const MAX_NOTE = 4_096;
const MAX_MESSAGE = 20_000;

const SCHEMA: FormQuestion['requestedSchema'] = {
  type: 'object',
  properties: {
    decision: {
      type: 'string',
      title: 'Decision',
      description: 'approve: the agent goes on. reject: it does not do this.',
      enum: ['approve', 'reject'],
    },
    note: {
      type: 'string',
      title: 'Note',
      description: 'Optional. Why; the agent may repeat it, so nothing secret.',
      maxLength: MAX_NOTE,
    },
  },
  required: ['decision'],
};

/**
 * What the person is asked who may decide the pause. Says who asks, since forms look alike. `undefined` for what is too long to be read in
 * a chat: it is decided elsewhere.
 */
export function approvalForm(pause: Pause, { name, agentId }: AgentCard): FormQuestion | undefined {
  const message = `The agent "${inOneLine(name)}" (${agentId}) waits for your approval${whatFor(pause)}`;
  const isCut = callsIn(pause).some(({ argsTruncated }) => argsTruncated);
  return isCut || message.length > MAX_MESSAGE
    ? undefined
    : { id: pause.id, message, requestedSchema: SCHEMA };
}

/** Of calls all that is known of them: what a person approves is what was shown. Nothing in it can hide, or look like a line of ours. */
function whatFor({ kind, reason, request }: Pause): string {
  if (kind !== 'TOOL_CALL') return `: ${inOneLine(reason)}`;
  const { calls, reason: said } = request as ToolCallsRequest;
  const lines = calls.map(
    ({ toolName, server, argumentsRedacted, gateReason }, index) =>
      `${index + 1}. ${toolName}${server && ` of ${server}`} with ${argumentsRedacted} (${gateReason})`,
  );
  const what = calls.length === 1 ? 'this call' : `these ${calls.length} calls, all or none`;
  return ` of ${what}:\n${[...lines, ...(said === undefined ? [] : [said])].map(inOneLine).join('\n')}`;
}

/** What authors write has no lines, which could be taken for ours. */
export function inOneLine(text: string): string {
  return withHiddenShown(text.replace(/[\t\n\r]+/g, ' '));
}

const filledIn = z.object({
  decision: z.enum(['approve', 'reject']),
  // Forms send what nobody has filled in as an empty text, or not at all.
  note: z
    .string()
    .max(MAX_NOTE)
    .refine(note => !note.includes('\0'))
    .nullish(),
});

/** The decision in an answer; `undefined` leaves the pause open, as does what fits no form of ours: nothing is approved by mistake. */
export function decisionIn(
  answer: Answer,
): { readonly verdict: Verdict; readonly note?: string } | undefined {
  if (answer.action !== 'accept') return answer.action === 'decline' ? { verdict: 'REJECTED' } : undefined;
  const { success, data } = filledIn.safeParse(answer.content);
  if (!success) return undefined;
  const note = data.note?.trim();
  return { verdict: data.decision === 'approve' ? 'APPROVED' : 'REJECTED', ...(note && { note }) };
}
