import { html, raw } from 'hono/html';
import type { PageSession } from '../../auth/page/page-sessions.ts';
import type { ConsentRequest, Consents } from '../../auth/server/consents.ts';
import type { RequestScope } from '../http/request-scope.ts';
import { hidden, problems } from './form.ts';
import { type Html, page, redirectTo } from './layout.ts';
import { cookieHeader, type NotePageRefusal, type PageGuard, wordsOf } from './page-guard.ts';
import type { Words } from './words.ts';

/** What the page works with on which a person allows a client something. */
export interface ConsentPageDeps {
  readonly guard: PageGuard;
  readonly consents: Consents;
  readonly noteRefusal: NotePageRefusal;
}

/** `GET /mcp-login?return_to=...`: who asks, for what, and where the browser goes back to (B-27, B-28). */
export async function showConsent(
  { guard, consents, noteRefusal }: ConsentPageDeps,
  request: Request,
  scope: RequestScope,
): Promise<Response> {
  const visitor = await guard.visit(request);
  if (!visitor.ok) return visitor.refusal.response;
  const session = visitor.value;
  const asked = await consents.look(askedBy(request), session.principal);
  if (asked.ok) return consentPage(request, session, asked.value);
  if (asked.refusal.reason === 'decided') return redirectTo(asked.refusal.location);
  noteRefusal({ reason: asked.refusal.reason, userId: session.userId }, scope);
  return gonePage(request);
}

/** `POST /mcp-login?return_to=...`: decides, and sends the browser back on its way (B-29). */
export async function decideConsent(
  { guard, consents, noteRefusal }: ConsentPageDeps,
  request: Request,
  scope: RequestScope,
): Promise<Response> {
  const submitted = await guard.submit(request, scope);
  if (!submitted.ok) return submitted.refusal.response;
  const { session, form } = submitted.value;
  const person = session.principal;
  const decided = await consents.decide(askedBy(request), person, {
    proof: form.one('proof'),
    allow: form.one('decision') === 'allow',
    agentIds: form.all('agent'),
  });
  if (decided.ok) return redirectTo(decided.value.location);
  noteRefusal({ reason: decided.refusal.reason, userId: session.userId }, scope);
  const asked = await consents.look(askedBy(request), person);
  if (!asked.ok) return gonePage(request);
  return consentPage(request, session, asked.value, decided.refusal.reason === 'no-agent');
}

function askedBy(request: Request) {
  const returnTo = new URL(request.url).searchParams.get('return_to') ?? undefined;
  return { cookie: cookieHeader(request), returnTo };
}

function gonePage(request: Request): Promise<Response> {
  const words = wordsOf(request);
  const { gone: title, goneText } = words.consent;
  return page({ words, title, status: 410, body: html`<p>${goneText}</p>` });
}

function consentPage(
  request: Request,
  session: PageSession,
  asked: ConsentRequest,
  nothingChosen = false,
): Promise<Response> {
  const words = wordsOf(request);
  const { consent: text } = words;
  const { client } = asked;
  const mayAllow = asked.resource.door === 'operator' || asked.agents.length > 0;
  const missing = nothingChosen ? [{ field: 'agents', text: text.chooseOne }] : [];
  return page({
    words,
    title: text.title,
    status: nothingChosen ? 422 : 200,
    leadsTo: [asked.leadsTo],
    body: html`${problems(words, missing)}
<p>${client.name === undefined ? text.nameless : html`${text.callsItself} <strong><bdi>${client.name}</bdi></strong>. ${text.unchecked}`}</p>
<dl>
<dt>${text.goesBackTo}</dt><dd><strong>${asked.redirect}</strong>${explained(words, asked.redirect)}</dd>
${client.host === undefined ? '' : html`<dt>${text.describedBy}</dt><dd>${client.host}</dd>`}
${client.uri === undefined ? '' : html`<dt>${text.saysItsPage}</dt><dd>${client.uri}</dd>`}
</dl>
<h2>${text.willBeAble}</h2>
<ul>${abilities(words, session, asked).map(each => html`<li>${each}</li>`)}</ul>
<form method="post">
${hidden('csrf', session.csrf)}${hidden('proof', asked.proof)}
${asked.resource.door === 'operator' ? '' : agentChoice(words, asked)}
<div class="actions">
${mayAllow ? html`<button name="decision" value="allow">${text.allow}</button>` : ''}
<button name="decision" value="deny" class="second">${text.deny}</button>
</div>
</form>
<p class="quiet after">${text.signedInAs(session.name)} <a href="/sign-out">${text.notYou}</a> ${text.notStarted}</p>`,
  });
}

function explained(words: Words, redirect: string): Html | '' {
  const { onThisComputer, anApp } = words.consent;
  if (redirect.endsWith(':')) return html` – ${anApp}`;
  return /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/.test(redirect) ? html` – ${onThisComputer}` : '';
}

function abilities(words: Words, session: PageSession, { resource, readOnly }: ConsentRequest) {
  const { consent: text } = words;
  const may =
    resource.door !== 'operator'
      ? text.talksToAgents
      : readOnly
        ? text.reads
        : text.operates(session.roles.join(', ') || words.account.noRoles);
  return [may, text.untilTakenBack];
}

function agentChoice(words: Words, { agents, resource }: ConsentRequest): Html {
  const { consent: text } = words;
  if (agents.length === 0) {
    return html`<p class="notice" role="status">${resource.door === 'agent' ? text.notThatAgent(resource.agentId) : text.noAgent}</p>`;
  }
  return html`<fieldset id="agents">
<legend>${text.agents}</legend>
${agents.map(
  ({ id, name, description }) => html`<label class="choice">
<input type="checkbox" name="agent" value="${id}"${resource.door === 'agent' ? raw(' checked') : ''}>
<span><strong>${name}</strong> <code>${id}</code>${description === '' ? '' : html`<span class="hint">${description}</span>`}</span>
</label>`,
)}
</fieldset>`;
}
