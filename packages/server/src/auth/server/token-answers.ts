import type { Clock } from '../../kernel/clock.ts';
import type { NoteRefusal } from '../../records/audit/refusals.ts';
import type { Store } from '../../store/store.ts';
import { findGrant, revokeGrant } from '../../store/tables/grants.ts';
import type { AccessTokens, TokenClaims } from '../token/access-token.ts';
import { clientIdOfBasic } from './client-auth.ts';
import { type ClientHeaders, jsonAnswer, type LibraryAnswer } from './exchange.ts';
import { ROUTES } from './provider.ts';

/** No token looks so. */
const NOBODYS_TOKEN = 'nobody';

type Answer = (form: URLSearchParams, headers: ClientHeaders) => Promise<LibraryAnswer>;

/**
 * Revocation (RFC 7009) and introspection (RFC 7662) of both kinds of tokens: the library knows the refresh tokens, and JWTs are ours. Each client
 * is answered about its own tokens, and of others it learns nothing. Taking either back takes back what the person has allowed.
 */
export function createTokenAnswers(deps: {
  readonly store: Store;
  readonly clock: Pick<Clock, 'now'>;
  readonly tokens: AccessTokens;
  readonly issuer: () => string;
  readonly refused: NoteRefusal;
  readonly post: (url: string, form: URLSearchParams, headers: ClientHeaders) => Promise<LibraryAnswer>;
}): { readonly revoke: Answer; readonly introspect: Answer } {
  const { store, clock, tokens, issuer, refused, post } = deps;

  async function readOwn(form: URLSearchParams): Promise<TokenClaims | undefined> {
    const [token = '', ...others] = form.getAll('token');
    if (others.length > 0) return undefined;
    for (const door of ['agents', 'operator'] as const) {
      const read = await tokens.read(token, door);
      if (read.ok) return read.value;
    }
    return undefined;
  }

  /** Who asks is found out by the library, which is asked the same about a token that nobody has: what it then refuses is the client. */
  async function refusalOfClient(url: string, form: URLSearchParams, headers: ClientHeaders) {
    const asked = new URLSearchParams(form);
    asked.set('token', NOBODYS_TOKEN);
    const answer = await post(url, asked, headers);
    return answer.status === 200 ? undefined : answer;
  }

  function answer(url: string, ofJwt: (claims: TokenClaims | undefined) => Promise<LibraryAnswer>): Answer {
    return async (form, headers) => {
      if (!isJwt(form.get('token'))) return post(url, form, headers);
      const refusal = await refusalOfClient(url, form, headers);
      if (refusal) return refusal;
      const clientId = form.get('client_id') || clientIdOfBasic(headers.authorization ?? '');
      const claims = await readOwn(form);
      if (claims?.clientId === clientId) return ofJwt(claims);
      const reason = claims ? 'other-client' : 'bad-token';
      refused({ door: 'oauth', reason, subject: { clientId, userId: claims?.userId } });
      return ofJwt(undefined);
    };
  }

  return {
    revoke: answer(ROUTES.revocation, async claims => {
      if (claims) await store.commit(db => revokeGrant(db, { id: claims.grantId, at: clock.now() }));
      return { status: 200, headers: new Headers({ 'Cache-Control': 'no-store' }), body: '' };
    }),

    introspect: answer(ROUTES.introspection, async claims => {
      const grant = claims && (await findGrant(store.db, claims.grantId));
      const holds = grant && grant.revokedAt === undefined && grant.expiresAt > clock.now();
      if (!holds) return jsonAnswer(200, { active: false });
      return jsonAnswer(200, {
        active: true,
        ...{ sub: claims.userId, client_id: claims.clientId, iss: issuer(), token_type: 'Bearer' },
        scope: [...claims.scopes].join(' '),
        exp: Math.floor(claims.expiresAt / 1000),
      });
    }),
  };
}

function isJwt(token: string | null): boolean {
  return token !== null && /^[\w-]+\.[\w-]+\.[\w-]*$/.test(token);
}
