import type { Provider } from 'oidc-provider';
import type { Clock } from '../../kernel/clock.ts';
import type { NoteRefusal } from '../../records/audit/refusals.ts';
import type { Store } from '../../store/store.ts';
import { findGrant, revokeGrant } from '../../store/tables/grants.ts';
import type { AccessTokens, TokenClaims } from '../token/access-token.ts';
import { type ClientHeaders, jsonAnswer, type LibraryAnswer } from './exchange.ts';
import { ROUTES } from './provider.ts';

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
  readonly provider: () => Promise<Provider>;
  readonly post: (url: string, form: URLSearchParams, headers: ClientHeaders) => Promise<LibraryAnswer>;
}): { readonly revoke: Answer; readonly introspect: Answer } {
  const { store, clock, tokens, issuer, refused, provider, post } = deps;

  async function readOwn(form: URLSearchParams): Promise<TokenClaims | undefined> {
    const [token = '', ...others] = form.getAll('token');
    if (others.length > 0) return undefined;
    for (const door of ['agents', 'operator'] as const) {
      const read = await tokens.read(token, door);
      if (read.ok) return read.value;
    }
    return undefined;
  }

  /** The client that the form names, where it may name itself so. */
  async function isClient(form: URLSearchParams, { authorization }: ClientHeaders): Promise<boolean> {
    const [clientId = '', ...others] = form.getAll('client_id');
    if (others.length > 0 || authorization !== undefined || form.has('client_secret')) return false;
    return (await (await provider()).Client.find(clientId)) !== undefined;
  }

  function answer(url: string, ofJwt: (claims: TokenClaims | undefined) => Promise<LibraryAnswer>): Answer {
    return async (form, headers) => {
      if (!isJwt(form.get('token'))) return post(url, form, headers);
      const clientId = form.get('client_id') ?? '';
      if (await isClient(form, headers)) {
        const claims = await readOwn(form);
        if (claims?.clientId === clientId) return ofJwt(claims);
        const reason = claims ? 'other-client' : 'bad-token';
        refused({ door: 'oauth', reason, subject: { clientId, userId: claims?.userId } });
        return ofJwt(undefined);
      }
      refused({ door: 'oauth', reason: 'unknown-client' });
      return jsonAnswer(401, { error: 'invalid_client', error_description: 'client authentication failed' });
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
