import { type CallRate, createBudgetStep } from './budget.ts';
import { interpretStep } from './interpret.ts';
import { limitStep } from './limit.ts';
import type { CallStep } from './outbound-call.ts';
import { createPolicyStep } from './policy.ts';
import { createResolveStep, type Resolver } from './resolve.ts';
import { createSendStep, type SendParts } from './send.ts';
import { validateStep } from './validate.ts';

/**
 * The table of an outbound call: every call passes these, whoever drives it, in this order (one-system.md 3). What it costs is measured
 * by `run-call.ts`, however it ends.
 */
export function callSteps(
  parts: { readonly resolver: Resolver; readonly tooOften: CallRate } & SendParts,
): readonly CallStep[] {
  return [
    createResolveStep(parts.resolver), // server, tool        → connection, tool, as the definition offers them
    validateStep, //                      arguments           → what the tool takes
    createPolicyStep(parts.clock), //     hints, gates        → deny, a person is needed, or allow; what was approved is what is sent
    createBudgetStep(parts.tooOften), //   rate, spent         → room for one more
    createSendStep(parts), //             one request         → raw result; repeated only as declared, or when it never arrived
    interpretStep, //                     raw result          → structured, text, error; suspicious phrases
    limitStep, //                         result              → what the consumer gets: cut, labelled
  ];
}
