import { z } from 'zod';
import { ENVIRONMENTS } from '../environments.ts';
import { isFileId } from '../ids.ts';

// Arguments that several operations take: one schema, one wording, one default.

/** Blank means the default, any other unknown value is refused and never substituted (E-18, E-23). */
export const environment = z
  .enum(ENVIRONMENTS)
  .default('production')
  .describe('Optional. Where the agent is deployed: production or test; default: production');

export const filter = z
  .string()
  .optional()
  .describe('Optional. Only names or descriptions that contain this text, in any case');

/** How many of a list, where another bound or default than that of `limit` fits. */
export function limitOf(most: number, usual: number) {
  return z
    .int()
    .min(1)
    .max(most)
    .default(usual)
    .describe(`Optional. How many at the most, 1 to ${most}; default: ${usual}`);
}

export const limit = limitOf(100, 20);

/** A version to work from: the optimistic lock of updates and deletions (platform.md 1.2). */
export const currentVersion = z
  .int()
  .min(0)
  .max(999_999_999)
  .describe('Current version of what is changed; 0 means whatever is current. Any other is a conflict');

/** A version to look at, the latest when left out (E-16). */
export const latestVersion = z
  .int()
  .min(0)
  .max(999_999_999)
  .optional()
  .describe('Optional. Version to read; if omitted or 0, the latest');

export const permanent = z
  .boolean()
  .default(false)
  .describe(
    'Optional. Removes every version for good, instead of hiding it with its history; default: false',
  );

export const redeploy = z
  .boolean()
  .default(false)
  .describe('Optional. Also deploys the agent afterwards; default: false');

const MAX_ATTACHMENTS = 5;

/**
 * The files of a message as callers name them (BX-12). Name and type were declared with the upload; what else an element says
 * is not looked at.
 */
export const attachments = z
  .array(
    z.looseObject({
      file_id: z.string('is missing; name an uploaded file').refine(isFileId, 'this is not the id of a file'),
    }),
  )
  .max(MAX_ATTACHMENTS, `at most ${MAX_ATTACHMENTS} files go with a message`)
  .optional()
  .describe('Optional. Files you uploaded before, as {"file_id": "..."}, at most 5');

export const idempotencyKey = z
  .string()
  .min(1)
  .max(255)
  .optional()
  .describe(
    'Optional. The same key with the same arguments runs the agent once and repeats its answer, here and at the agent door',
  );

export const metadata = z
  .record(z.string(), z.unknown())
  .optional()
  .describe('Optional. What your program says about the message, for the agent as context.metadata');
