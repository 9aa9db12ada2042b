import { html } from 'hono/html';
import { loginOf } from '../../auth/user/accounts.ts';
import type { RequestScope } from '../http/request-scope.ts';
import { field, hidden, problems } from './form.ts';
import { page, redirectTo } from './layout.ts';
import { HOME, ownPath } from './own-path.ts';
import { cookieHeader, wordsOf } from './page-guard.ts';
import type { PageDeps } from './pages.ts';
import { problemPage } from './problem-page.ts';

/** `GET /sign-in`: asks for name and password. Who is signed in already goes on. */
export async function showSignIn(deps: PageDeps, request: Request): Promise<Response> {
  const returnTo = ownPath(new URL(request.url).searchParams.get('return_to') ?? HOME, HOME);
  if (await deps.sessions.read(cookieHeader(request))) return redirectTo(returnTo);
  return signInPage(deps, request, { returnTo, login: '', wrong: false });
}

/** `POST /sign-in`: begins a session and goes on. Whatever is wrong, the person hears one sentence (attack 23). */
export async function signIn(
  deps: PageDeps,
  request: Request,
  scope: RequestScope & { readonly address: string | undefined },
): Promise<Response> {
  const { accounts, sessions, guard, signInRate, noteRefusal, noteDone } = deps;
  const form = await guard.submitAnonymously(request, scope);
  if (!form.ok) return form.refusal.response;
  const returnTo = ownPath(form.value.one('return_to'), HOME);
  const login = loginOf(form.value.one('login'));
  if (!(await signInRate.admits({ address: scope.address, login }))) {
    noteRefusal({ reason: 'too-many-tries' }, scope);
    return problemPage('tooOften', request);
  }
  const outcome = await accounts.signIn(login, form.value.one('password'));
  if (!outcome.ok) {
    noteRefusal(outcome.refusal, scope);
    return signInPage(deps, request, { returnTo, login, wrong: true });
  }
  const before = await sessions.read(cookieHeader(request));
  if (before) await sessions.end(before);
  const { userId } = outcome.value;
  const { setCookie } = await sessions.begin(userId);
  await noteDone('sign_in', userId);
  return redirectTo(returnTo, [setCookie]);
}

function signInPage(
  { guard, realm }: Pick<PageDeps, 'guard' | 'realm'>,
  request: Request,
  { returnTo, login, wrong }: { readonly returnTo: string; readonly login: string; readonly wrong: boolean },
): Promise<Response> {
  const words = wordsOf(request);
  const { csrf, cookies } = guard.greet(request);
  const found = wrong ? [{ field: 'login', text: words.signIn.wrong }] : [];
  return page({
    words,
    title: words.signIn.title,
    status: wrong ? 401 : 200,
    cookies,
    body: html`${problems(words, found)}
<form method="post" action="/sign-in">
${hidden('csrf', csrf)}${hidden('return_to', returnTo)}
${field({ name: 'login', label: words.signIn.name, autocomplete: 'username', value: login.slice(0, 100), first: !wrong, maxLength: 100 })}
${field({ name: 'password', label: words.signIn.password, type: 'password', autocomplete: 'current-password' })}
<div class="actions"><button>${words.signIn.submit}</button></div>
</form>
${realm && html`<p class="after"><a href="/sign-in/realm?return_to=${encodeURIComponent(returnTo)}">${words.signIn.by(realm.host)}</a></p>`}
<p class="quiet after">${words.signIn.help}</p>`,
  });
}
