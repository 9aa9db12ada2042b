import type { NeedsSignIn } from '../../../connections/call/outcome.ts';
import { sha256OfJson } from '../../../kernel/digest.ts';
import { isAboutSignIn, signInPause, waitingServers } from '../../pause/sign-in.ts';
import type { StepTools } from '../../step/step.ts';

/** What a turn has asked its person to sign in for, by credential. */
export interface SignIns {
  readonly asked: Map<string, number>;
  /** They did not want to: nobody asks again in this turn. */
  readonly declined: Set<string>;
}

export function noSignIns(): SignIns {
  return { asked: new Map(), declined: new Set() };
}

/** Signing in may be followed by one for more scopes; a server that wants it again and again gets its call an error (W-81). */
const MAX_ASKED = 2;

/**
 * Has the person in the conversation sign in wherever these calls need it, all in one wait (W-75). True when the calls are worth another try:
 * somebody has signed in, or was asked and did not want to, perhaps at one of several servers. False where nobody is asked. Rejects with `Parked`
 * while they have not answered.
 */
export async function askToSignIn(
  calls: readonly NeedsSignIn[],
  { asked, declined }: SignIns,
  tools: Pick<StepTools, 'ask'>,
): Promise<boolean> {
  const servers = waitingServers(
    calls.filter(({ credential }) => !declined.has(credential) && (asked.get(credential) ?? 0) < MAX_ASKED),
  );
  if (servers.length === 0) return false;
  const names = new Set(servers.map(({ credential }) => credential));
  for (const name of names) asked.set(name, (asked.get(name) ?? 0) + 1);
  const decision = await tools.ask(sha256OfJson(['sign in', servers]), async () => signInPause(servers));
  // What is no answer to this question is none at all: nobody has signed in.
  if (decision.verdict !== 'APPROVED' || !isAboutSignIn(decision))
    for (const name of names) declined.add(name);
  return true;
}

/** Why a call was not made in the end, in words that a model can use. */
export function whyNotMade(
  { server, credential, message }: NeedsSignIn,
  { declined }: SignIns,
): { readonly code: string; readonly message: string } {
  if (declined.has(credential)) {
    return {
      code: 'SIGN_IN_DECLINED',
      message: `the person in the conversation did not sign in at ${server}; nothing was called. Do without it, and do not call it again in this turn.`,
    };
  }
  return { code: 'SIGN_IN_NEEDED', message };
}
