import { z } from 'zod';
import { approvalFields, checkTimeouts } from './approval-fields.ts';
import { approvalTimeout, missingTimeout, pauseReason, timeoutPolicy } from './timeout.ts';

/** How long a turn waits for a person, and what then; which calls of tools wait for one (platform.md 5.2). */
export const hitlConfig = z
  .strictObject({
    approvalTimeout: approvalTimeout.optional(),
    timeoutPolicy: timeoutPolicy.default('WAIT_INDEFINITELY'),
    pauseReason: pauseReason.optional(),
    toolApprovals: approvalFields.ofAgent.optional(),
  })
  .superRefine((config, context) => {
    const message = missingTimeout(config);
    if (message !== undefined) context.addIssue({ code: 'custom', path: ['approvalTimeout'], message });
    const { toolApprovals, approvalTimeout: own } = config;
    if (toolApprovals) checkTimeouts(toolApprovals, own, context, ['toolApprovals']);
  });

export type HitlConfig = z.output<typeof hitlConfig>;
