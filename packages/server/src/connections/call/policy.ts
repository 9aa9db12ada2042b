import type { Clock } from '../../kernel/clock.ts';
import { whyGated } from '../tool/gate.ts';
import { bindingOf, CHANGED, changedParts } from './approval.ts';
import { type CallInProgress, type CallStep, LateRefusal, type ListedTool, refuse } from './outbound-call.ts';
import type { Ended } from './outcome.ts';

/**
 * Ensures that no call is sent which a person must approve, unless a person has approved exactly this one (W-98, attack 51). What the server's
 * definition says and what the agent says are both heard, and the stricter counts: deny, then ask, then allow (W-100). A rule has nobody to
 * ask and nothing to resume, so it is refused (EX-12); a person who calls by hand has approved it. It is looked at once more at the moment
 * the call is sent: the server may have come back with another tool.
 */
export function createPolicyStep(clock: Pick<Clock, 'now'>): CallStep {
  return {
    name: 'policy',
    run(state) {
      if (state.call.driver === 'person') return undefined;
      state.beforeSend = () => {
        const late = decideLate(state, clock.now());
        if (late) throw new LateRefusal(late);
      };
      return decide(state, state.listed!, clock.now());
    },
  };
}

/** Of a tool that is gone by now its server says itself that there is none; nobody knows whether it is what was approved. */
function decideLate(state: CallInProgress, now: number): Ended | undefined {
  const { call, latest } = state;
  const listed = latest ? latest() : state.listed!;
  if (!listed) return call.approval && refuseChanged(call.tool, [CHANGED.tool]);
  const ended = decide(state, listed, now);
  if (ended?.kind !== 'needs-approval') return ended;
  // A turn goes by the tools as it has found them, so an approval that is asked for now would be of another tool.
  return refuse(
    'DENIED',
    `DENIED: the tool "${call.tool}" has changed at this very moment, and a person must approve calls of it now: ${ended.reason}; call it again in a later turn`,
  );
}

function decide(state: CallInProgress, listed: ListedTool, now: number): Ended | undefined {
  const { call } = state;
  const { tool, annotations, cameLater, gated } = listed;
  const onlyReads = annotations.readOnly === true;
  const gate = whyGated({ gated, prefix: call.server.prefix }, { name: call.tool, onlyReads, cameLater });
  const judged = call.judge?.({ name: call.tool, annotations });
  if (judged?.verdict === 'deny')
    return refuse(
      'DENIED',
      `DENIED: this agent may not call "${call.tool}": ${judged.reason}; do without it`,
    );
  const asks = [gate, judged?.verdict === 'ask' ? judged.reason : undefined].filter(
    reason => reason !== undefined,
  );
  if (call.driver === 'rule') return asks.length === 0 ? undefined : ruleRefused(call.tool, asks, gate);
  if (call.approval) return refusedApproval(state, listed, now);
  if (asks.length === 0) return undefined;
  if (call.server.auth.kind === 'caller') return callerRefused(call.tool, asks);
  return {
    kind: 'needs-approval',
    binding: bindingOf(state, tool, gated),
    arguments: state.arguments,
    inputSchema: tool.inputSchema,
    reason: asks.join('; '),
    serverAsks: gate !== undefined,
    ...(judged?.verdict === 'ask' && judged.rule !== undefined && { matchedRule: judged.rule }),
  };
}

function ruleRefused(tool: string, asks: readonly string[], gate: string | undefined): Ended {
  const remedy =
    gate === undefined
      ? '"exempt" in the toolApprovals of the agent lets rules call it'
      : '"gated": false in the definition of the server lets rules call it';
  return refuse(
    'DENIED',
    `DENIED: a person must approve calls of "${tool}": ${asks.join('; ')}; a rule cannot wait for one. ${remedy}`,
  );
}

/** What waits for a person goes on when nobody is there any more in whose name it would be made (E-90). */
function callerRefused(tool: string, asks: readonly string[]): Ended {
  return refuse(
    'DENIED',
    `DENIED: a person must approve calls of "${tool}": ${asks.join('; ')}; and this server is called as whoever talks to the agent, which a call that waits cannot be; do without it`,
  );
}

/** An approval is good for what was shown, and for as long as it says. */
function refusedApproval(state: CallInProgress, { tool, gated }: ListedTool, now: number): Ended | undefined {
  const { approval, tool: name } = state.call;
  if (now >= approval!.expiresAt)
    return refuse(
      'APPROVAL_EXPIRED',
      `the approval of this call of "${name}" has run out, so it was not sent; call it again to ask anew`,
    );
  const changed = changedParts(approval!, bindingOf(state, tool, gated));
  return changed.length === 0 ? undefined : refuseChanged(name, changed);
}

function refuseChanged(tool: string, changed: readonly string[]): Ended {
  return refuse(
    'APPROVAL_CHANGED',
    `this call of "${tool}" is not the one that was approved, so it was not sent: ${changed.join(' and ')} changed since; call it again to ask anew`,
  );
}
