import { z } from 'zod';
import { ENVIRONMENTS } from '../environments.ts';

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

export const limit = z
  .int()
  .min(1)
  .max(100)
  .default(20)
  .describe('Optional. How many at the most, 1 to 100; default: 20');

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
