import type { ServerAuth } from '../server/definition.ts';
import { SessionError, SignInNeeded } from '../session/failure.ts';
import type { Credential } from './credential.ts';
import type { CredentialRefusal, PersonalCredential, RefusedCredential } from './credentials-provider.ts';
import { scopeWanted } from './scope-wanted.ts';

/** Of one connection: answers to what was sent with the tokens before are still under way. */
const MAX_SECRETS = 4;

export interface PersonalHeader extends Credential {
  /** What the person's credential is by now; an older one changes nothing. */
  use(found: PersonalCredential): void;
  secrets(): readonly string[];
}

/**
 * One person's credential at one server, in a header of every request of their connection (W-72). Refused, it is reported, and shown once more where it
 * could be renewed (W-78, W-79); else the person has to sign in again (W-80).
 */
export function createPersonalHeader(options: {
  readonly auth: Extract<ServerAuth, { kind: 'principal' }>;
  /** `instance/name`. */
  readonly server: string;
  readonly principalId: string;
  readonly first: PersonalCredential;
  /** See `CredentialsProvider`; rejects with a `SessionError`. */
  readonly report: (
    who: RefusedCredential,
    what: CredentialRefusal,
  ) => Promise<PersonalCredential | undefined>;
}): PersonalHeader {
  const { auth, server, principalId, first, report } = options;
  const { credentialName: name, header, scheme } = auth;
  let current = first;
  let secrets: readonly string[] = [first.token];
  let reporting: Promise<PersonalCredential | undefined> | undefined;

  function use(found: PersonalCredential): void {
    if (found.given !== first.given || found.revision < current.revision) return;
    take(found);
  }

  function take(found: PersonalCredential): void {
    current = found;
    if (secrets[0] === found.token) return;
    secrets = [found.token, ...secrets.filter(token => token !== found.token)].slice(0, MAX_SECRETS);
  }

  const shownAs = ({ token }: PersonalCredential) => (scheme === '' ? token : `${scheme} ${token}`);

  return {
    use,
    secrets: () => secrets,
    refusals: 1,
    headers: async () => ({ [header]: shownAs(current) }),

    async refused({ status, headers, shown }) {
      // Somebody who was refused at the same time has got another one meanwhile.
      if (shown[header] !== shownAs(current)) return true;
      const { revision } = current;
      const { given } = first;
      const challenge = challengeIn(headers['www-authenticate']);
      reporting ??= report({ name, principalId, revision, given }, { server, status, challenge }).finally(
        () => {
          reporting = undefined;
        },
      );
      const next = await reporting;
      if (!next || next.revision === revision) {
        const scope = scopeWanted(status, challenge);
        const text = scope === undefined ? refusedText(server, status) : widerText(server);
        throw new SignInNeeded(name, text, { given, ...(scope !== undefined && { scope }) });
      }
      if (next.given !== first.given)
        throw new SessionError('INTERRUPTED', 'no', 'the person has given another credential');
      take(next);
      return true;
    },
  };
}

/** Of several the one that is about tokens. */
function challengeIn(header: string | string[] | undefined): string | undefined {
  const challenges = [header ?? []].flat();
  return challenges.find(one => /^bearer\b/i.test(one)) ?? challenges[0];
}

function widerText(server: string): string {
  return `${server} wants you to allow more than you have: sign in again`;
}

function refusedText(server: string, status: number): string {
  return `${server} does not take your credential any more (status ${status}): sign in again`;
}
