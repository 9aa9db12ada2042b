import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import { SessionError } from '../session/failure.ts';
import { orAborted, timeLimit } from '../session/time-limit.ts';
import type { CredentialsProvider, PersonalCredential } from './credentials-provider.ts';
import { isToken } from './token-text.ts';

/** How long the code of a configuration may think about a credential. */
const MAX_MS = 10_000;

/** `credentials` of an instance in `patchbay.config.ts`: where people's own credentials come from, as its author has written it (W-71, W-78). */
export interface ConfiguredCredentials {
  /** Answers `{ token, revision?, given? }`, a promise of it, or nothing where the person has to sign in. */
  readonly find: (name: string, principalId: string) => unknown;
  /** Told what a server refused; answers as `find` does, with a credential to try once, or nothing. */
  readonly refused: ((who: object, what: object) => unknown) | undefined;
}

const token = z.string().refine(isToken);
const number = z.int().nonnegative();
const answer = z.union([
  z.strictObject({ token }),
  z.strictObject({ token, revision: number, given: number.optional() }),
]);

/**
 * Asks the code of a configuration. Whatever is wrong with it, or with what it answers, is told to the log and rejects with a `SessionError`
 * that says nothing of it. Without a revision a token is another credential whenever it is another.
 */
export function configuredProvider(
  { find, refused }: ConfiguredCredentials,
  clock: Clock,
): CredentialsProvider {
  async function ask(question: () => unknown, given?: number): Promise<PersonalCredential | undefined> {
    const late = () =>
      new SessionError('AUTHENTICATION_FAILED', 'no', 'its credentials cannot be had in time');
    const limit = timeLimit(clock, MAX_MS, late, undefined);
    try {
      const said = await orAborted((async () => question())(), limit.signal);
      return said === undefined || said === null ? undefined : read(said, given);
    } finally {
      limit.clear();
    }
  }

  return {
    find: (name, principalId) => ask(() => find(name, principalId)),
    refused: (who, what) => ask(() => refused?.({ ...who }, { ...what }), who.given),
  };
}

/** What comes for a credential that was refused is that one, renewed, unless it says otherwise. */
function read(said: unknown, renewed: number | undefined): PersonalCredential {
  const parsed = answer.safeParse(said);
  if (!parsed.success)
    throw new TypeError(
      'credentials of the configuration must answer { token, revision?, given? }, or nothing',
    );
  const { data } = parsed;
  if ('revision' in data) return { ...data, given: data.given ?? data.revision };
  const revision = numberOf(data.token);
  return { token: data.token, revision, given: renewed ?? revision };
}

/** The same on every node, and another one for another token. */
function numberOf(text: string): number {
  return createHash('sha256').update(text).digest().readUIntBE(0, 6);
}
