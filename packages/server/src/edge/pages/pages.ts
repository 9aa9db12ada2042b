import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import type { Cookies } from '../../auth/page/cookies.ts';
import type { PageSessions } from '../../auth/page/page-sessions.ts';
import type { RealmSignIn } from '../../auth/page/realm-sign-in.ts';
import type { SignInLinks } from '../../auth/page/sign-in-links.ts';
import type { Consents } from '../../auth/server/consents.ts';
import type { Grants } from '../../auth/server/grants.ts';
import type { Accounts } from '../../auth/user/accounts.ts';
import { toPlatformError } from '../../kernel/errors.ts';
import type { ScopedEnv } from '../http/request-scope.ts';
import { changePassword, showAccount, showPassword } from './account.ts';
import { disconnectApplication } from './applications.ts';
import { type ConnectDeps, comeBack, connect, describeClient, showConnect } from './connect.ts';
import { COME_BACK, OWN_DOCUMENT } from './connect-paths.ts';
import { decideConsent, showConsent } from './consent.ts';
import { disconnectServer } from './credentials.ts';
import { showLink, useLink } from './link.ts';
import { problemPage } from './problem-page.ts';
import { beginRealmSignIn, endRealmSignIn } from './realm-sign-in.ts';
import { showSignIn, signIn } from './sign-in.ts';
import type { SignInRate } from './sign-in-rate.ts';
import { showSignOut, signOut } from './sign-out.ts';
import { underPrefix } from './under-prefix.ts';

/** What the pages of people work with. */
export interface PageDeps extends ConnectDeps {
  readonly accounts: Accounts;
  readonly links: SignInLinks;
  readonly sessions: PageSessions;
  readonly signInRate: SignInRate;
  readonly consents: Consents;
  /** Signing in by an OpenID realm, where there is one. */
  readonly realm: RealmSignIn | undefined;
  readonly cookies: Cookies;
  /** What our addresses begin with in this browser. */
  readonly baseFor: (host: string | undefined) => string;
  /** What a proxy puts in front of our paths, and takes off again. */
  readonly prefix: () => string;
  readonly grants: Grants;
}

type Env = { Bindings: HttpBindings; Variables: ScopedEnv['Variables'] };

/** The pages on which people sign in and look after their account. */
export function createPages(deps: PageDeps): Hono<Env> {
  const pages = new Hono<Env>();
  const scopeOf = (c: Context<Env>) => ({
    ...c.get('scope'),
    address: c.env.incoming?.socket.remoteAddress,
  });
  for (const path of ['/sign-in/*', '/sign-out', '/account/*', '/mcp-login', '/connect/*'])
    pages.use(path, underPrefix(deps.prefix));
  pages.get('/sign-in', c => showSignIn(deps, c.req.raw));
  pages.post('/sign-in', c => signIn(deps, c.req.raw, scopeOf(c)));
  pages.get('/sign-in/link/:token', c => showLink(deps, c.req.raw, c.req.param('token')));
  pages.post('/sign-in/link/:token', c => useLink(deps, c.req.raw, c.req.param('token'), scopeOf(c)));
  const { realm } = deps;
  if (realm) {
    pages.get('/sign-in/realm', c => beginRealmSignIn(deps, realm, c.req.raw));
    pages.get('/sign-in/realm/callback', c => endRealmSignIn(deps, realm, c.req.raw, scopeOf(c)));
  }
  pages.get('/sign-out', c => showSignOut(deps, c.req.raw));
  pages.post('/sign-out', c => signOut(deps, c.req.raw, scopeOf(c)));
  pages.get('/account', c => showAccount(deps, c.req.raw));
  pages.post('/account/applications', c => disconnectApplication(deps, c.req.raw, scopeOf(c)));
  pages.get('/account/password', c => showPassword(deps, c.req.raw));
  pages.post('/account/password', c => changePassword(deps, c.req.raw, scopeOf(c)));
  pages.get('/mcp-login', c => showConsent(deps, c.req.raw, scopeOf(c)));
  pages.post('/mcp-login', c => decideConsent(deps, c.req.raw, scopeOf(c)));
  pages.post('/account/credentials', c => disconnectServer(deps, c.req.raw, scopeOf(c)));
  pages.get(OWN_DOCUMENT, () => describeClient(deps.base()));
  pages.get(COME_BACK, c => comeBack(deps, c.req.raw, scopeOf(c)));
  pages.get('/connect/:pauseId', c => showConnect(deps, c.req.raw, c.req.param('pauseId'), scopeOf(c)));
  pages.post('/connect/:pauseId', c => connect(deps, c.req.raw, c.req.param('pauseId'), scopeOf(c)));
  pages.onError((thrown, c) => {
    const error = toPlatformError(thrown, 'A page');
    if (error.kind === 'unavailable') return problemPage('busy', c.req.raw);
    c.get('scope').log.error('A page could not be shown', { error });
    return problemPage('failed', c.req.raw);
  });
  return pages;
}
