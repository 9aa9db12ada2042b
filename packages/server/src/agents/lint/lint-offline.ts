import { type ModelNeeds, needsOf } from '../document/model-choice.ts';
import { STEP_TYPES } from '../turn/steps.ts';
import { type Linted, lintFile } from './linter.ts';

export type LintedFile = Linted;

/** What the operation lint_agent says of an agent file, but for the secrets and variables of a platform. */
export function lintAgentFile(file: unknown): Promise<LintedFile> {
  return lintFile(file, STEP_TYPES);
}

/** What a model that is named as `provider:model` needs besides. Rejects with a `PlatformError` of kind `invalid` for none there is. */
export async function modelNeeds(named: string): Promise<ModelNeeds> {
  return needsOf(named);
}
