import { STEP_TYPES } from '../turn/steps.ts';
import { type Linted, lintFile } from './linter.ts';

export type LintedFile = Linted;

/** What the operation lint_agent says of an agent file, but for the secrets and variables of a platform. */
export function lintAgentFile(file: unknown): Promise<LintedFile> {
  return lintFile(file, STEP_TYPES);
}
