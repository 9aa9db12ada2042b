import { html } from 'hono/html';
import type { PageSession } from '../../auth/page/page-sessions.ts';
import type { Grants } from '../../auth/server/grants.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { RequestScope } from '../http/request-scope.ts';
import { hidden } from './form.ts';
import { dateOf, type Html, redirectTo } from './layout.ts';
import type { PageDeps } from './pages.ts';
import type { Words } from './words.ts';

type Grant = Awaited<ReturnType<Grants['list']>>[number];

/** The part of the account that lists what the person has allowed clients, each with a way to take it back. */
export function applications(words: Words, { csrf }: PageSession, connected: readonly Grant[]): Html {
  const { account: text } = words;
  if (connected.length === 0) {
    return html`<h2>${text.applications}</h2>
<p class="quiet">${text.noApplications}</p>`;
  }
  return html`<h2>${text.applications}</h2>
<ul>${connected.map(
    grant => html`<li>
<strong><bdi>${grant.clientName}</bdi></strong><br>
<span class="quiet">${text.mayUse}: ${mayUse(words, grant)}. ${text.allowed}: ${dateOf(grant.createdAt)}.</span>
<form method="post" action="/account/applications">${hidden('csrf', csrf)}${hidden('grant', grant.id)}
<button class="second" aria-label="${text.disconnect}: ${grant.clientName}">${text.disconnect}</button></form>
</li>`,
  )}</ul>`;
}

function mayUse(words: Words, { door, agentIds, scope }: Grant): string {
  if (door === 'agents') return agentIds.join(', ');
  return scope === 'operator:read' ? words.account.reading : words.account.everything;
}

/** `POST /account/applications`: takes one back. One that is gone already is none the worse. */
export async function disconnectApplication(
  { guard, grants, noteDone }: PageDeps,
  request: Request,
  scope: RequestScope,
): Promise<Response> {
  const submitted = await guard.submit(request, scope);
  if (!submitted.ok) return submitted.refusal.response;
  const { session, form } = submitted.value;
  const grantId = form.one('grant');
  try {
    await grants.revoke(session.userId, grantId);
    await noteDone('disconnect_application', session.userId, { grantId });
  } catch (error) {
    if (!(error instanceof PlatformError) || error.kind !== 'not_found') throw error;
  }
  return redirectTo('/account');
}
