import { html } from 'hono/html';
import type { RequestScope } from '../http/request-scope.ts';
import { hidden } from './form.ts';
import { page, redirectTo } from './layout.ts';
import { cookieHeader, wordsOf } from './page-guard.ts';
import type { PageDeps } from './pages.ts';

/** `GET /sign-out`: asks, because looking at an address must end nothing; or says that nobody is signed in. */
export async function showSignOut({ sessions }: PageDeps, request: Request): Promise<Response> {
  const { signOut: words, ...all } = wordsOf(request);
  const session = await sessions.read(cookieHeader(request));
  if (!session) {
    return page({
      words: { signOut: words, ...all },
      title: words.done,
      body: html`<p><a href="/sign-in">${words.again}</a></p>`,
    });
  }
  return page({
    words: { signOut: words, ...all },
    title: words.title,
    body: html`<p>${words.text}</p>
<form method="post" action="/sign-out">${hidden('csrf', session.csrf)}
<div class="actions"><button autofocus>${words.submit}</button></div></form>`,
  });
}

/** `POST /sign-out`: ends this session, here and on all nodes. */
export async function signOut(
  { sessions, guard, noteDone }: PageDeps,
  request: Request,
  scope: RequestScope,
): Promise<Response> {
  const submitted = await guard.submit(request, scope);
  if (!submitted.ok)
    return submitted.refusal.reason === 'not-signed-in'
      ? redirectTo('/sign-out')
      : submitted.refusal.response;
  const { session } = submitted.value;
  const { setCookie } = await sessions.end(session);
  await noteDone('sign_out', session.userId);
  return redirectTo('/sign-out', [setCookie]);
}
