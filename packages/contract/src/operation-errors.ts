import type { ErrorKind } from './errors.ts';
import { sendsBody } from './operation.ts';
import type { Operation } from './operations.ts';
import { ROLES, TIERS } from './roles.ts';

/** What each kind of error says to a caller, in a clause that follows the status. */
export const ERROR_MEANINGS: Readonly<Record<ErrorKind, string>> = {
  invalid: 'an argument is missing, unknown or wrong; the message names it',
  unauthenticated: 'no credential that opens this',
  forbidden: 'your roles do not admit you, it belongs to somebody else, or no key may do it',
  not_found: 'there is nothing of that name or id for you',
  agent_not_found: 'there is no such agent for you',
  conflict: 'it clashes with what is there or happens at the same time; the message says with what',
  wrong_state: 'its state does not allow that',
  pause_changed: 'it does not wait for this any more; somebody else was quicker',
  disabled: 'this installation has switched it off',
  too_large: 'the body is larger than the platform takes',
  rate_limited: 'your credential has made more calls within a minute than it may',
  unavailable: 'the agent is not deployed here or cannot run as it is deployed, or the server is down',
  timeout: 'the agent took longer than its limit; nothing of the message was stored',
  cancelled: 'the turn was cancelled; nothing of the message was stored',
  internal: 'our fault; the log of the server says why, under the traceId of the details',
};

/** Every kind of error the REST route of an operation may answer, by status. */
export function errorsOf({ errors, rest, tier, runsTurn }: Operation): readonly ErrorKind[] {
  const admitsEverybody = TIERS[tier].length === ROLES.length;
  const possible: Readonly<Partial<Record<ErrorKind, boolean>>> = {
    invalid: true,
    unauthenticated: true,
    forbidden: !admitsEverybody,
    too_large: sendsBody(rest.method),
    rate_limited: rest.surface === 'agents' && runsTurn,
    internal: true,
  };
  return (Object.keys(ERROR_MEANINGS) as ErrorKind[]).filter(kind => possible[kind] || errors.includes(kind));
}
