import { PlatformError } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { CallFor } from '../call/outbound-call.ts';
import { formatServerRef, type ServerAuth, type ServerDefinition } from '../server/definition.ts';
import type { Endpoint } from '../session/endpoint.ts';
import { SessionError, SignInNeeded } from '../session/failure.ts';
import type { Owner } from '../session/pool.ts';
import type { CredentialsProvider, PersonalCredential } from './credentials-provider.ts';
import { createPersonalHeader, type PersonalHeader } from './personal-header.ts';

/** What a person's own connection to a server is made with. */
export interface PersonalAccess {
  readonly found: PersonalCredential;
  readonly owner: Owner;
  /** Of a program, with the credential among its variables. */
  readonly endpoint: Endpoint;
  /** Over HTTP. */
  readonly header: PersonalHeader | undefined;
}

export type PersonalServer = ServerDefinition & { readonly auth: Extract<ServerAuth, { kind: 'principal' }> };

export function isPersonal(definition: ServerDefinition): definition is PersonalServer {
  return definition.auth.kind === 'principal';
}

/**
 * Finds the credential of the person a call is made for. Rejects with `SignInNeeded` where they have none, and with a `SessionError` where there is
 * no such person, or the agent is somebody else's: nobody else's credential is ever taken (W-89).
 */
export type FindPersonalAccess = (
  definition: PersonalServer,
  callFor: CallFor,
  endpoint: Endpoint,
) => Promise<PersonalAccess>;

export function createPersonalAccess(deps: {
  /** Of an instance. */
  readonly credentialsOf: (scope: string) => CredentialsProvider;
  /** May the agent use what is this person's alone? */
  readonly actsFor: (agentId: string, userId: string) => Promise<boolean>;
  readonly logger: Logger;
}): FindPersonalAccess {
  const { credentialsOf, actsFor, logger } = deps;
  return async (definition, callFor, endpoint) => {
    const { auth, ref } = definition;
    const server = formatServerRef(ref);
    const principalId = personOf(callFor, server);
    const { agentId } = callFor;
    if (agentId !== undefined && !(await actsFor(agentId, principalId)))
      throw nobody(
        `${server} is used with each person's own credential, which agents of somebody else do not get unless an admin owns them: use an agent of your own, or have an admin deploy this one`,
      );
    const credentials = credentialsOf(ref.scope);
    const failed = (thrown: unknown): never => {
      if (thrown instanceof SessionError) throw thrown;
      logger.error('A credential of a person cannot be had', { server, error: thrown });
      throw nobody(
        thrown instanceof PlatformError ? thrown.message : `the credential for ${server} cannot be had now`,
      );
    };
    const found = await credentials.find(auth.credentialName, principalId).catch(failed);
    if (!found)
      throw new SignInNeeded(
        auth.credentialName,
        `${server} is used with your own credential: sign in first`,
      );
    const { given } = found;
    const credential = { name: auth.credentialName, userId: principalId, given };
    const owner: Owner = { server, who: whoFor(definition, callFor), credential };
    if (endpoint.kind === 'stdio') {
      const env = { ...endpoint.env, [auth.env!]: found.token };
      return { found, owner, endpoint: { ...endpoint, env, secret: [auth.env!] }, header: undefined };
    }
    const header = createPersonalHeader({
      ...{ auth, server, principalId, first: found },
      report: (who, what) => credentials.refused(who, what).catch(failed),
    });
    return { found, owner, endpoint, header };
  };
}

function personOf({ userId, spokenBy }: CallFor, server: string): string {
  const used = `${server} is used with each person's own credential, and`;
  if (userId === '' || userId === 'anonymous')
    throw nobody(`${used} nobody has signed in here: sign in, or use a key of yours`);
  if (userId.startsWith('key:'))
    throw nobody(
      `${used} an agent key stands for no person: talk to the agent with a user key, or signed in`,
    );
  if (spokenBy !== undefined && spokenBy !== userId)
    throw nobody(
      `${used} somebody else speaks here than the person whose conversation this is: they have to say it themselves`,
    );
  return userId;
}

function nobody(message: string): SessionError {
  return new SessionError('AUTHENTICATION_FAILED', 'no', message);
}

function whoFor({ transport }: ServerDefinition, { userId, conversationId }: CallFor): string {
  const ofConversation =
    transport.kind === 'stdio' && transport.isolation === 'conversation' && conversationId !== undefined;
  return ofConversation ? `person ${userId} in conversation ${conversationId}` : `person ${userId}`;
}
