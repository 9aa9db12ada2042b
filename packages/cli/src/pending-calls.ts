import type { OperationOutput } from '@patchbay/contract/client';
import { indent, printable } from './text.ts';

export type PendingCall = NonNullable<OperationOutput<'get_approval_status'>['pendingToolCalls']>[number];

/** A call that waits, for whoever decides about it: what is called, with which arguments, and why somebody is asked. */
export function pendingCallText(call: PendingCall): string {
  const { callId, toolName, server, gateReason, argumentsRedacted } = call;
  return [
    printable(`call ${callId}: ${toolName} of ${server}`),
    printable(`  because ${gateReason}`),
    indent(printable(laidOut(argumentsRedacted)), '  '),
  ].join('\n');
}

/**
 * JSON on several lines, every character of it as it stands: what is spelled out stays spelled out. Short JSON, and what is cut off, stays
 * on one line.
 */
export function laidOut(json: string): string {
  if (json.length <= 80) return json;
  let text = '';
  let depth = 0;
  for (const [part] of json.matchAll(/"(?:[^"\\]|\\.)*"?|[{[]\s*[}\]]|[{[]|[}\]]|,|:|[^"{}[\],:]+/g)) {
    if (/^[{[]$/.test(part)) {
      depth += 1;
      text += part + line(depth);
    } else if (/^[}\]]$/.test(part)) {
      depth -= 1;
      text += line(depth) + part;
    } else if (part === ',') text += part + line(depth);
    else text += part === ':' ? ': ' : part;
  }
  return text;
}

function line(depth: number): string {
  return `\n${'  '.repeat(Math.max(0, depth))}`;
}
