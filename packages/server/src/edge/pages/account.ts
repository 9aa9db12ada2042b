import { html } from 'hono/html';
import type { RequestScope } from '../http/request-scope.ts';
import { applications } from './applications.ts';
import { credentialsPart } from './credentials.ts';
import { field, hidden, problems } from './form.ts';
import { page, redirectTo } from './layout.ts';
import {
  type NewPasswordProblem,
  newPasswordFields,
  newPasswordOf,
  newPasswordProblems,
} from './new-password.ts';
import { wordsOf } from './page-guard.ts';
import type { PageDeps } from './pages.ts';

/** `GET /account`: who I am here. */
export async function showAccount(deps: PageDeps, request: Request): Promise<Response> {
  const { guard, accounts, grants } = deps;
  const visitor = await guard.visit(request);
  if (!visitor.ok) return visitor.refusal.response;
  const session = visitor.value;
  const words = wordsOf(request);
  const { account: text } = words;
  const { login, hasPassword } = await accounts.describe(session.userId);
  const connected = await grants.list(session.userId);
  const { searchParams } = new URL(request.url);
  const saved = searchParams.get('saved') === 'password';
  const isRemoved = searchParams.get('removed') === 'credential';
  return page({
    words,
    title: text.title,
    body: html`${saved ? html`<p class="notice" role="status">${text.saved}</p>` : ''}
<dl>
<dt>${text.name}</dt><dd>${session.name}</dd>
${login === undefined ? '' : html`<dt>${text.login}</dt><dd>${login}</dd>`}
<dt>${text.roles}</dt><dd>${session.roles.join(', ') || text.noRoles}</dd>
</dl>
${
  login === undefined
    ? ''
    : html`<h2>${text.password}</h2>
<p><a href="/account/password">${hasPassword ? text.changePassword : text.choosePassword}</a></p>`
}
${credentialsPart(deps, session, words, isRemoved)}
${applications(words, session, connected)}
<form method="post" action="/sign-out">${hidden('csrf', session.csrf)}
<div class="actions"><button class="second">${text.signOut}</button></div></form>`,
  });
}

/** `GET /account/password`. */
export async function showPassword(deps: PageDeps, request: Request): Promise<Response> {
  const visitor = await deps.guard.visit(request);
  return visitor.ok ? passwordPage(deps, request, visitor.value) : visitor.refusal.response;
}

/** `POST /account/password`: signs out every other browser; this one goes on with a session of its own. */
export async function changePassword(
  deps: PageDeps,
  request: Request,
  scope: RequestScope,
): Promise<Response> {
  const { accounts, guard, sessions, noteRefusal, noteDone } = deps;
  const submitted = await guard.submit(request, scope);
  if (!submitted.ok) return submitted.refusal.response;
  const { session, form } = submitted.value;
  const { userId } = session;
  const next = newPasswordOf(form);
  if (next === undefined) return passwordPage(deps, request, session, 'different');
  const { hasPassword } = await accounts.describe(userId);
  if (hasPassword) {
    const confirmed = await accounts.confirm(userId, form.one('current'));
    if (!confirmed.ok) {
      noteRefusal(confirmed.refusal, scope);
      return passwordPage(deps, request, session, 'wrong');
    }
  }
  const chosen = await accounts.choosePassword(userId, next);
  if (!chosen.ok) return passwordPage(deps, request, session, chosen.refusal.reason);
  await noteDone('choose_password', userId);
  const { setCookie } = await sessions.begin(userId);
  return redirectTo('/account?saved=password', [setCookie]);
}

async function passwordPage(
  { accounts }: PageDeps,
  request: Request,
  { userId, csrf }: { readonly userId: string; readonly csrf: string },
  problem?: NewPasswordProblem | 'wrong',
): Promise<Response> {
  const words = wordsOf(request);
  const { password: text } = words;
  const { login, hasPassword } = await accounts.describe(userId);
  const newProblem = problem === 'wrong' ? undefined : problem;
  const wrong = problem === 'wrong' ? [{ field: 'current', text: text.wrong }] : [];
  return page({
    words,
    title: text.title,
    status: problem ? 422 : 200,
    body: html`${problems(words, [...wrong, ...newPasswordProblems(words, newProblem)])}
<form method="post" action="/account/password">
${hidden('csrf', csrf)}
${
  hasPassword
    ? field({
        name: 'current',
        label: text.current,
        type: 'password',
        autocomplete: 'current-password',
        first: !problem,
        problem: wrong[0]?.text,
      })
    : ''
}
${newPasswordFields(words, { login, problem: newProblem, first: !hasPassword && !problem })}
<div class="actions"><button>${text.submit}</button></div>
</form>
<p class="quiet after"><a href="/account">${words.page.back}</a></p>`,
  });
}
