/** Only a problem keeps people from working; a warning is something they would want to know. */
export type Verdict = 'ok' | 'warning' | 'problem';

/** What a check has to say. It holds no secret. */
export interface Remark {
  readonly verdict: Verdict;
  /** One plain sentence. */
  readonly says: string;
  /** The command line that mends it, where one does. */
  readonly mend?: string | undefined;
}

/** A remark with the name of the check it comes from. */
export interface Finding extends Remark {
  readonly check: string;
}

export function findingsOf(check: string, remarks: readonly Remark[]): Finding[] {
  return remarks.map(remark => ({ check, ...remark }));
}

/** One word for a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
