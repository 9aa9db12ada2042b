import type { RequestScope } from '../http/request-scope.ts';
import { redirectTo } from './layout.ts';
import { HOME, ownPath } from './own-path.ts';
import { cookieHeader } from './page-guard.ts';
import type { PageDeps } from './pages.ts';
import { problemPage } from './problem-page.ts';

const CALLBACK = '/sign-in/realm/callback';

type Realm = NonNullable<PageDeps['realm']>;

/** `GET /sign-in/realm`: sends the browser to the realm, which sends it back to the callback. */
export async function beginRealmSignIn(
  { cookies, baseFor }: PageDeps,
  realm: Realm,
  request: Request,
): Promise<Response> {
  const returnTo = ownPath(new URL(request.url).searchParams.get('return_to') ?? HOME, HOME);
  const { address, secret } = await realm.begin({ returnTo, redirectUri: redirectUriOf(baseFor, request) });
  return redirectTo(address, [cookies.set('realm', secret)]);
}

/** `GET /sign-in/realm/callback`: begins a session for whom the realm has signed in, in the browser that was sent there. */
export async function endRealmSignIn(
  { cookies, baseFor, sessions, signInRate, noteRefusal, noteDone }: PageDeps,
  realm: Realm,
  request: Request,
  scope: RequestScope & { readonly address: string | undefined },
): Promise<Response> {
  const secret = cookies.read(cookieHeader(request), 'realm');
  // Whoever comes without one is one of many, and is refused without work.
  if (secret !== undefined && !(await signInRate.admits({ address: scope.address, login: secret }))) {
    noteRefusal({ reason: 'too-many-tries' }, scope);
    return problemPage('tooOften', request);
  }
  const redirectUri = redirectUriOf(baseFor, request);
  const outcome = await realm.end(new URL(request.url), { secret, redirectUri });
  if (!outcome.ok) {
    noteRefusal(outcome.refusal, scope);
    const isSilent = outcome.refusal.reason === 'realm-unavailable';
    return problemPage(isSilent ? 'realmSilent' : 'realmRefused', request, [cookies.clear('realm')]);
  }
  const { userId, returnTo } = outcome.value;
  const before = await sessions.read(cookieHeader(request));
  if (before) await sessions.end(before);
  const { setCookie } = await sessions.begin(userId);
  await noteDone('sign_in', userId);
  return redirectTo(ownPath(returnTo, HOME), [setCookie, cookies.clear('realm')]);
}

function redirectUriOf(baseFor: PageDeps['baseFor'], request: Request): string {
  return baseFor(request.headers.get('host') ?? undefined) + CALLBACK;
}
