import { html } from 'hono/html';
import type { PageSession } from '../../auth/page/page-sessions.ts';
import type { RequestScope } from '../http/request-scope.ts';
import { hidden } from './form.ts';
import { dateOf, type Html, redirectTo } from './layout.ts';
import type { PageDeps } from './pages.ts';
import type { Words } from './words.ts';

/** What agents use for this person at MCP servers, by name, each with a way to take it away. */
export async function credentialsPart(
  { credentials }: Pick<PageDeps, 'credentials'>,
  { userId, csrf }: PageSession,
  words: Words,
  isRemoved: boolean,
): Promise<Html> {
  const { credentials: text } = words;
  const list = await credentials.list(userId);
  return html`<h2 id="credentials">${text.title}</h2>
${isRemoved ? html`<p class="notice" role="status">${text.removed}</p>` : ''}
${list.length === 0 ? html`<p class="quiet">${text.none}</p>` : ''}
${list.map(
  ({
    name,
    createdAt,
  }) => html`<form method="post" action="/account/credentials">${hidden('csrf', csrf)}${hidden('name', name)}
<p><strong>${name}</strong> <span class="quiet">${text.since} ${dateOf(createdAt)}</span></p>
<div class="actions"><button class="second" aria-label="${text.remove}: ${name}">${text.remove}</button></div></form>`,
)}`;
}

/** `POST /account/credentials`: forgets one; agents ask again when they need it. */
export async function disconnectServer(
  { guard, credentials, noteDone }: PageDeps,
  request: Request,
  scope: RequestScope,
): Promise<Response> {
  const submitted = await guard.submit(request, scope);
  if (!submitted.ok) return submitted.refusal.response;
  const { session, form } = submitted.value;
  const name = form.one('name');
  const isRemoved = await credentials.remove({ userId: session.userId, name });
  if (isRemoved) await noteDone('disconnect_server', session.userId, { credential: name });
  return redirectTo('/account?removed=credential#credentials');
}
