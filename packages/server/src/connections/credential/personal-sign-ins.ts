import { computeScopeUnion, prepareAuthorizationCodeRequest } from '@modelcontextprotocol/client';
import type { Clock } from '../../kernel/clock.ts';
import { sha256OfText } from '../../kernel/digest.ts';
import { granted, type Outcome, refused } from '../../kernel/result.ts';
import type { Vault } from '../../secrets/vault.ts';
import type { Store } from '../../store/store.ts';
import {
  countServerSignIns,
  deleteExpiredServerSignIns,
  insertServerSignIn,
  takeServerSignIn,
} from '../../store/tables/server-sign-ins.ts';
import { formatServerRef, type ServerRef } from '../server/definition.ts';
import { SessionError } from '../session/failure.ts';
import { type AuthorizationServer, findAuthorizationServer } from './authorization-server.ts';
import { challengeOfServer } from './challenge.ts';
import type { ClientRegistrations, RegisteredByPeople } from './client-registrations.ts';
import { clientAt, type OAuthClient } from './oauth-client.ts';
import type { OAuthEgress } from './oauth-egress.ts';
import { authenticationFailure, oauthFailure } from './oauth-failure.ts';
import type { FindOAuthSite, OAuthSite } from './oauth-site.ts';
import type { PersonalTokenStore } from './personal-tokens.ts';
import { scopeToAsk } from './scope-to-ask.ts';
import { addressToVisit, codeIn, newState } from './sign-in.ts';
import { requestToken } from './token-request.ts';

/** Somebody in their browser. */
export interface Visitor {
  readonly userId: string;
  /** Names what their browser is signed in with. */
  readonly sessionId: string;
}

export interface BeginSignIn extends Visitor {
  readonly ref: ServerRef;
  /** Scopes that the server has asked for since they signed in last. */
  readonly scope: string | undefined;
  /** A page of ours where they go on afterwards. */
  readonly returnTo: string;
}

export interface FinishedSignIn {
  readonly returnTo: string;
  /** `instance/name`. */
  readonly server: string;
}

/** Why nobody is signed in; `message` is a sentence for them. */
export interface SignInRefusal {
  readonly reason: 'sign-in-unknown' | 'other-browser' | 'wrong-issuer' | 'sign-in-failed';
  readonly message: string;
  /** Where they may try again. */
  readonly returnTo?: string | undefined;
}

/** People on their way to the authorization server of an MCP server and back, to whichever node (mcp.md 1.2 "Authorization"). */
export interface PersonalSignIns {
  /**
   * Where the person's browser goes: the authorization server's own page, https or at this machine. `undefined` where nobody signs in at the
   * server with OAuth. Rejects with a `SessionError`, whose message may be shown.
   */
  begin(request: BeginSignIn): Promise<URL | undefined>;
  /**
   * They came back with this query: once, within ten minutes, to the browser they left from. Keeps their credential. What an answer says is looked at only when it
   * is from the authorization server that was asked (attack 9).
   */
  finish(query: URLSearchParams, visitor: Visitor): Promise<Outcome<FinishedSignIn, SignInRefusal>>;
  removeOld(): Promise<void>;
}

/** Of one sign-in. */
const LIFE_MS = 10 * 60_000;
/** Of one person, under way. */
const MAX_UNDER_WAY = 50;
const MAX_STATE = 200;

/** What whoever comes back has to know. */
interface UnderWay {
  readonly sessionId: string;
  readonly ref: ServerRef;
  readonly returnTo: string;
  readonly codeVerifier: string;
  readonly redirectUrl: string;
  readonly metadataUrl: string | undefined;
  readonly scope: string | undefined;
  readonly server: AuthorizationServer;
}

export function createPersonalSignIns(deps: {
  readonly store: Store;
  readonly vault: Pick<Vault, 'prepareSeal' | 'openText'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly siteOf: FindOAuthSite;
  readonly registrations: ClientRegistrations;
  readonly tokens: Pick<PersonalTokenStore, 'put' | 'read'>;
  /** Where browsers come back to. */
  readonly redirectUrl: () => string;
}): PersonalSignIns {
  const { store, vault, clock, siteOf, registrations, tokens } = deps;

  /** As registered beforehand, or by ourselves: then once for all people. */
  async function clientOf(
    site: OAuthSite,
    server: AuthorizationServer,
    options: {
      readonly redirectUrl: string;
      readonly scope: string | undefined;
      readonly egress: OAuthEgress;
    },
  ): Promise<OAuthClient> {
    const { identity } = site;
    const registered = registeredAt(site);
    const issuer = registered && (await registrations.issuerOf(registered));
    if (issuer !== undefined && issuer !== server.issuer)
      throw authenticationFailure(
        'it names another authorization server than the one that the client is registered at; whoever runs the platform has to say as oauth.issuer which it is',
      );
    const known = await registrations.find(server.issuer, options.redirectUrl);
    const client = await clientAt({ ...options, identity, server, kept: known, clock });
    if (client.byOurselves && client.information !== known?.client)
      await registrations.keep(server.issuer, options.redirectUrl, client.information);
    return client;
  }

  /** Whoever the server names later does not get what the client was given by whom it named first (mcp.md 1.2, registration). */
  async function keepIssuer(site: OAuthSite, { issuer }: AuthorizationServer): Promise<void> {
    const registered = registeredAt(site);
    if (registered && (await registrations.issuerOf(registered)) === undefined)
      await registrations.keepIssuer(registered, issuer);
  }

  async function keep(
    state: string,
    visitor: Visitor,
    credential: string,
    underWay: UnderWay,
  ): Promise<void> {
    const { userId } = visitor;
    const stateHash = hashOf(state);
    const seal = await vault.prepareSeal();
    await store.commit(async db => {
      const now = clock.now();
      await deleteExpiredServerSignIns(db, now);
      if ((await countServerSignIns(db, userId)) >= MAX_UNDER_WAY)
        throw new SessionError(
          'AUTHENTICATION_FAILED',
          'no',
          'too many sign-ins are under way; wait ten minutes',
        );
      const sealed = await seal(db, belongsTo(stateHash, userId), JSON.stringify(underWay));
      await insertServerSignIn(db, { stateHash, userId, credential, ...sealed, expiresAt: now + LIFE_MS });
    });
  }

  async function take(query: URLSearchParams, { userId }: Visitor) {
    const state = query.get('state') ?? '';
    if (state === '' || state.length > MAX_STATE) return undefined;
    const stateHash = hashOf(state);
    const taken = await store.commit(db => takeServerSignIn(db, { stateHash, userId, now: clock.now() }));
    if (!taken) return undefined;
    const text = await vault.openText(taken, belongsTo(stateHash, userId));
    return { credential: taken.credential, underWay: JSON.parse(text) as UnderWay };
  }

  return {
    async begin({ ref, scope: wanted, returnTo, ...visitor }) {
      const site = await siteOf(ref);
      if (!site) return undefined;
      const egress = site.egress();
      const redirectUrl = deps.redirectUrl();
      try {
        const challenge = await challengeOfServer(site.url, egress);
        const { metadataUrl } = challenge;
        const server = await findAuthorizationServer({
          serverUrl: site.url,
          metadataUrl,
          said: site.said,
          egress,
        });
        const before = await tokens.read({ userId: visitor.userId, name: site.credential });
        const kept = before?.tokens?.kept;
        // What they gave before stays given, and is never told to somebody else (attack 16).
        const given = kept?.issuer === server.issuer ? kept.scope : undefined;
        const scope = scopeToAsk(server, {
          asked: computeScopeUnion(given, challenge.scope, wanted),
          usual: site.said.scope,
          isPerson: true,
        });
        const client = await clientOf(site, server, { redirectUrl, scope, egress });
        const state = newState();
        const { address, codeVerifier } = await addressToVisit(
          { server, client, scope },
          { redirectUrl, state },
        );
        const { sessionId } = visitor;
        await keep(state, visitor, site.credential, {
          ...{ sessionId, ref, returnTo, codeVerifier, redirectUrl, metadataUrl, scope, server },
        });
        return address;
      } catch (thrown) {
        throw oauthFailure(thrown, egress.sent);
      }
    },

    async finish(query, visitor) {
      const taken = await take(query, visitor);
      if (!taken) return refused(UNKNOWN);
      const { underWay, credential } = taken;
      const { returnTo, server, redirectUrl, codeVerifier, scope, metadataUrl, ref } = underWay;
      // Somebody else had this browser come back with what they have begun.
      if (underWay.sessionId !== visitor.sessionId) return refused(OTHER_BROWSER);
      const failed = (reason: SignInRefusal['reason'], thrown: unknown, sent: readonly string[]) => {
        const { message } = oauthFailure(thrown, sent, server.quirks.hint);
        return refused<SignInRefusal>({ reason, message: asSentence(message), returnTo });
      };
      const site = await siteOf(ref);
      if (!site) return refused({ ...GONE, returnTo });
      const egress = site.egress();
      let code: string;
      try {
        code = codeIn(query, server);
      } catch (thrown) {
        return failed(thrown instanceof SessionError ? 'sign-in-failed' : 'wrong-issuer', thrown, []);
      }
      try {
        const client = await clientOf(site, server, { redirectUrl, scope, egress });
        const parameters = prepareAuthorizationCodeRequest(code, codeVerifier, redirectUrl);
        const token = await requestToken({
          ...{ server, client, parameters, egress, key: undefined, now: clock.now() },
        });
        await keepIssuer(site, server);
        await tokens.put(
          { userId: visitor.userId, name: credential },
          {
            server: ref,
            kept: { issuer: server.issuer, metadataUrl, client: undefined, redirectUrl, scope, token },
          },
        );
        return granted({ returnTo, server: formatServerRef(ref) });
      } catch (thrown) {
        return failed('sign-in-failed', thrown, [code, codeVerifier, ...egress.sent]);
      }
    },

    removeOld: () => store.commit(db => deleteExpiredServerSignIns(db, clock.now())),
  };
}

/** `undefined` where the operator has said who its authorization server is, and for a client of ours. */
function registeredAt({ url, said, identity }: OAuthSite): RegisteredByPeople | undefined {
  if (said.issuer !== undefined || said.tokenUrl !== undefined) return undefined;
  return identity.registered && { serverUrl: url, clientId: identity.registered.id };
}

const UNKNOWN: SignInRefusal = {
  reason: 'sign-in-unknown',
  message: 'This sign-in was begun by somebody else, is over already, or took longer than ten minutes.',
};
const OTHER_BROWSER: SignInRefusal = {
  reason: 'other-browser',
  message: 'This sign-in was begun in another browser, or before you signed in here.',
};
const GONE: SignInRefusal = {
  reason: 'sign-in-failed',
  message: 'The server is not registered here any more.',
};

function hashOf(state: string): string {
  return sha256OfText(`sign-in ${state}`);
}

function belongsTo(stateHash: string, userId: string): readonly string[] {
  return ['server-sign-in', stateHash, userId];
}

function asSentence(phrase: string): string {
  const text = phrase.replace(/\.?$/, '.');
  return text.charAt(0).toUpperCase() + text.slice(1);
}
