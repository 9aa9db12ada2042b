import { sha256OfJson } from '../../kernel/digest.ts';
import { digestOf, snapshotOf } from '../tool/pinned-tools.ts';
import type { RemoteTool } from '../tool/remote-tool.ts';
import type { CallInProgress, OutboundCall } from './outbound-call.ts';
import type { ApprovalBinding } from './outcome.ts';

/** What may have changed since, in the words of the refusal. */
export const CHANGED: Readonly<Record<keyof ApprovalBinding, string>> = {
  server: 'where its server is reached, or with which credentials',
  tool: 'what its server says of the tool',
  arguments: 'its arguments',
  person: 'the person for whom it is made',
  policy: 'what the agent or the server asks of such calls',
};

/** What an approval of this call is about, once its arguments are as they are sent. */
export function bindingOf(
  { call, identity, arguments: sent }: CallInProgress,
  tool: RemoteTool,
  gated: unknown,
): ApprovalBinding {
  return {
    server: identity!(),
    tool: digestOf(snapshotOf(tool)),
    arguments: sha256OfJson(sent),
    person: sha256OfJson([call.callFor.userId]),
    policy: sha256OfJson([call.policyVersion ?? null, gated]),
  };
}

/** The same approval for other arguments, which whoever approved it wrote. */
export function bindingFor(arguments_: OutboundCall['arguments'], binding: ApprovalBinding): ApprovalBinding {
  return { ...binding, arguments: sha256OfJson(arguments_) };
}

/** What is no longer as it was approved, in words; empty when nothing is. */
export function changedParts(
  approved: ApprovalBinding,
  now: ApprovalBinding,
  words: Readonly<Record<keyof ApprovalBinding, string>> = CHANGED,
): readonly string[] {
  return Object.entries(words).flatMap(([part, word]) => {
    const name = part as keyof ApprovalBinding;
    return approved[name] === now[name] ? [] : [word];
  });
}
