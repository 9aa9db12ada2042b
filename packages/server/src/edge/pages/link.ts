import { html } from 'hono/html';
import type { SignInLink } from '../../auth/page/sign-in-links.ts';
import { refusePassword } from '../../auth/user/password-rules.ts';
import type { RequestScope } from '../http/request-scope.ts';
import { hidden, problems } from './form.ts';
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
  const { accounts, guard, links, sessions, noteRefusal, noteDone } = deps;
  const form = await guard.submitAnonymously(request, scope);
  if (!form.ok) return form.refusal.response;
  const link = await links.look(token);
  if (!link) {
    noteRefusal({ reason: 'unknown-link' }, scope);
    return goneLink(request);
  }
  let password: string | undefined;
  if (link.purpose === 'password') {
    password = newPasswordOf(form.value);
    const problem = password === undefined ? 'different' : refusePassword(password, link)?.reason;
    if (problem) return linkPage(deps, request, token, link, problem);
  }
  // Of two who use it at the same moment, one gets it.
  const taken = await links.take(token);
  if (!taken) {
    noteRefusal({ reason: 'unknown-link' }, scope);
    return goneLink(request);
  }
  if (password !== undefined) {
    await accounts.choosePassword(taken.userId, password);
    await noteDone('choose_password', taken.userId);
  }
  const before = await sessions.read(cookieHeader(request));
  if (before) await sessions.end(before);
  const { setCookie } = await sessions.begin(taken.userId);
  await noteDone('sign_in', taken.userId);
  return redirectTo('/account', [setCookie]);
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
<div class="actions"><button>${chooses ? words.password.submit : words.link.submit}</button></div>
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
