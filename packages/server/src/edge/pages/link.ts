import { html, raw } from 'hono/html';
import type { SignInLink } from '../../auth/page/sign-in-links.ts';
import type { RequestScope } from '../http/request-scope.ts';
import { type Form, hidden, problems } from './form.ts';
import { page, redirectTo } from './layout.ts';
import {
  type NewPasswordProblem,
  newPasswordFields,
  newPasswordOf,
  newPasswordProblems,
} from './new-password.ts';
import { cookieHeader, wordsOf } from './page-guard.ts';
import type { PageDeps } from './pages.ts';

/** `GET /sign-in/link/{token}`: shows what the link is for. Uses nothing up: mail programs and chats look at addresses, too. */
export async function showLink(deps: PageDeps, request: Request, token: string): Promise<Response> {
  const link = await deps.links.look(token);
  return link ? linkPage(deps, request, token, link) : goneLink(request);
}

/** `POST` of the same address: uses the link up and signs in, with a new password where the link is for that. */
export async function useLink(
  deps: PageDeps,
  request: Request,
  token: string,
  scope: RequestScope & { readonly address: string | undefined },
): Promise<Response> {
  const { guard, links, sessions, noteRefusal, noteDone } = deps;
  const form = await guard.submitAnonymously(request, scope);
  if (!form.ok) return form.refusal.response;
  const link = await links.look(token);
  if (!link) {
    noteRefusal({ reason: 'unknown-link' }, scope);
    return goneLink(request);
  }
  const { userId } = link;
  // Of two who use it at the same moment, one gets it.
  const problem = await used(deps, link, token, form.value);
  if (problem === 'link-gone') {
    noteRefusal({ reason: 'unknown-link', userId }, scope);
    return goneLink(request);
  }
  if (problem) return linkPage(deps, request, token, link, problem);
  if (link.purpose === 'password') await noteDone('choose_password', userId);
  const before = await sessions.read(cookieHeader(request));
  if (before) await sessions.end(before);
  const { setCookie } = await sessions.begin(userId);
  await noteDone('sign_in', userId);
  return redirectTo('/account', [setCookie]);
}

/** What keeps the link from being used; `undefined` when it was. */
async function used(
  { accounts, links }: PageDeps,
  { userId, purpose }: SignInLink,
  token: string,
  form: Form,
): Promise<NewPasswordProblem | 'link-gone' | undefined> {
  if (purpose === 'sign-in') return (await links.take(token)) ? undefined : 'link-gone';
  const password = newPasswordOf(form);
  if (password === undefined) return 'different';
  const chosen = await accounts.choosePasswordWith({ userId, token }, password);
  return chosen.ok ? undefined : chosen.refusal.reason;
}

function linkPage(
  { guard }: PageDeps,
  request: Request,
  token: string,
  link: SignInLink,
  problem?: NewPasswordProblem,
): Promise<Response> {
  const words = wordsOf(request);
  const { csrf, cookies } = guard.greet(request);
  const chooses = link.purpose === 'password';
  return page({
    words,
    title: chooses ? words.password.title : words.link.title,
    status: problem ? 422 : 200,
    cookies,
    body: html`${problems(words, newPasswordProblems(words, problem))}
<p>${chooses ? words.link.choose(link.name) : words.link.as(link.name)}</p>
<form method="post" action="/sign-in/link/${token}">
${hidden('csrf', csrf)}
${chooses ? newPasswordFields(words, { login: link.login, problem, first: !problem }) : ''}
<div class="actions"><button${chooses ? '' : raw(' autofocus')}>${chooses ? words.password.submit : words.link.submit}</button></div>
</form>`,
  });
}

function goneLink(request: Request): Promise<Response> {
  const words = wordsOf(request);
  return page({
    words,
    title: words.link.gone,
    status: 404,
    body: html`<p>${words.link.goneText}</p>
<p><a href="/sign-in">${words.signIn.title}</a></p>`,
  });
}
