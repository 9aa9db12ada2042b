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
