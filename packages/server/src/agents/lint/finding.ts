import type { LintCode } from '@patchbay/contract/operations/lint';

/** What is wrong with an agent, or looks like it. */
export interface Finding {
  /** `error`: it cannot be deployed, or a part of it is not there. `warning`: it works, and something in it does nothing. */
  readonly severity: 'error' | 'warning';
  readonly code: LintCode;
  /** Which document and where in it: `rules hello, group "answers", rule "bye"`. */
  readonly place: string;
  /** A sentence about that place. */
  readonly says: string;
  /** What to do about it, as a sentence. */
  readonly mend: string;
}

/** What was found at a place, or that nothing was. */
export type Look = Finding | undefined;

/** Most that are found are of this kind. */
export function warning(finding: Omit<Finding, 'severity'>): Finding {
  return { severity: 'warning', ...finding };
}

/** As a person reads it; a long one is cut. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}...` : text);
}
