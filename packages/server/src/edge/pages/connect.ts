import { html } from 'hono/html';
import type { Pauses } from '../../agents/pause/pauses.ts';
import type { SignInVisit, SignInVisits, VisitedServer } from '../../agents/pause/sign-in-visits.ts';
import type { PageSession } from '../../auth/page/page-sessions.ts';
import type { PersonalCredentials } from '../../connections/credential/personal-credentials.ts';
import type { PersonalSignIns } from '../../connections/credential/personal-sign-ins.ts';
import { SessionError } from '../../connections/session/failure.ts';
import { withHiddenShown } from '../../connections/tool/hidden-text.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { RequestScope } from '../http/request-scope.ts';
import { COME_BACK, OWN_DOCUMENT } from './connect-paths.ts';
import { field, hidden, problems } from './form.ts';
import { type Html, page, redirectTo } from './layout.ts';
import type { NotePageRefusal, PageGuard } from './page-guard.ts';
import { wordsOf } from './page-guard.ts';
import type { Words } from './words.ts';

/** What the pages work with on which people sign in at MCP servers. */
export interface ConnectDeps {
  readonly guard: PageGuard;
  readonly visits: SignInVisits;
  readonly signIns: PersonalSignIns;
  readonly credentials: Pick<PersonalCredentials, 'put' | 'list' | 'remove'>;
  readonly pauses: Pick<Pauses, 'decide'>;
  readonly noteRefusal: NotePageRefusal;
  /** Address of the platform. */
  readonly base: () => string;
  /** Told of what somebody did for themselves. Never rejects. */
  readonly noteDone: (
    what:
      | 'sign_in'
      | 'sign_out'
      | 'choose_password'
      | 'connect_server'
      | 'disconnect_server'
      | 'disconnect_application',
    userId: string,
    subject?: Readonly<Record<string, string>>,
  ) => Promise<void>;
}

const MAX_TOKEN = 16_384;

/** `GET /connect/{pauseId}`: which servers an agent waits for, for the person it works for. */
export async function showConnect(
  deps: ConnectDeps,
  request: Request,
  pauseId: string,
  scope: RequestScope,
): Promise<Response> {
  const visitor = await deps.guard.visit(request);
  if (!visitor.ok) return visitor.refusal.response;
  const found = await visitOf(deps, request, visitor.value, pauseId, scope);
  return found instanceof Response ? found : connectPage(request, visitor.value, found);
}

/** `POST /connect/{pauseId}`: begins to sign in at a server, takes a token, or hears that they do not want to. */
export async function connect(
  deps: ConnectDeps,
  request: Request,
  pauseId: string,
  scope: RequestScope,
): Promise<Response> {
  const { guard, signIns, credentials, pauses, noteDone } = deps;
  const submitted = await guard.submit(request, scope);
  if (!submitted.ok) return submitted.refusal.response;
  const { session, form } = submitted.value;
  const found = await visitOf(deps, request, session, pauseId, scope);
  if (found instanceof Response) return found;
  const here = `/connect/${found.pauseId}`;
  if (found.state !== 'waits') return redirectTo(here);
  const { principal, userId, id: sessionId } = session;
  const { conversationId } = found;
  if (form.one('action') === 'decline') {
    const decider = { principal, decidedBy: userId };
    await pauses.decide(decider, { conversationId, pauseId, verdict: 'REJECTED' }).catch(unlessLate);
    return redirectTo(here);
  }
  const server = found.servers.find(one => one.server === form.one('server'));
  if (!server) return redirectTo(here);
  const { ref, credential: name } = server;
  try {
    if (server.how === 'oauth') {
      const address = await signIns.begin({ userId, sessionId, ref, scope: server.scope, returnTo: here });
      return address ? leavePage(request, address) : redirectTo(here);
    }
    await credentials.put({ userId, name }, form.one('token').trim());
    await noteDone('connect_server', userId, { server: server.server });
    return redirectTo(here);
  } catch (thrown) {
    const problem = sentenceOf(thrown);
    if (problem === undefined) throw thrown;
    return connectPage(request, session, found, { server: server.server, text: problem });
  }
}

/** `GET /connect/callback`: the browser comes back from the authorization server of a server. */
export async function comeBack(deps: ConnectDeps, request: Request, scope: RequestScope): Promise<Response> {
  const { guard, signIns, noteRefusal, noteDone } = deps;
  const visitor = await guard.visit(request);
  const words = wordsOf(request);
  const { connect: text } = words;
  if (!visitor.ok) {
    // What they came back with is not carried on: it is good for the browser they left from.
    noteRefusal({ reason: visitor.refusal.reason }, scope);
    return page({ words, title: text.failed, status: 403, body: html`<p>${text.otherBrowser}</p>` });
  }
  const session = visitor.value;
  const { userId, id: sessionId } = session;
  const finished = await signIns.finish(new URL(request.url).searchParams, { userId, sessionId });
  if (finished.ok) {
    await noteDone('connect_server', userId, { server: finished.value.server });
    return redirectTo(finished.value.returnTo);
  }
  const { reason, message, returnTo } = finished.refusal;
  noteRefusal({ reason, userId }, scope);
  return page({
    words,
    title: text.failed,
    status: 400,
    body: html`<p role="alert">${shown(message)}</p>
${returnTo === undefined ? '' : html`<p><a href="${returnTo}">${text.again}</a></p>`}`,
  });
}

/** `GET /connect/client.json`: who we are to authorization servers that read such documents (mcp.md 1.2, registration). */
export function describeClient(base: string): Response {
  const document = {
    client_id: `${base}${OWN_DOCUMENT}`,
    client_name: 'Patchbay',
    client_uri: base,
    redirect_uris: [`${base}${COME_BACK}`],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
  return Response.json(document, { headers: { 'Cache-Control': 'public, max-age=3600' } });
}

async function visitOf(
  { visits, noteRefusal }: ConnectDeps,
  request: Request,
  session: PageSession,
  pauseId: string,
  scope: RequestScope,
): Promise<SignInVisit | Response> {
  const found = await visits.find(session.principal, pauseId);
  if (found.ok) return found.value;
  const words = wordsOf(request);
  const { connect: text } = words;
  if (found.refusal.reason === 'unknown') {
    noteRefusal({ reason: 'unknown-sign-in', userId: session.userId }, scope);
    return page({ words, title: text.unknown, status: 404, body: html`<p>${text.unknownText}</p>` });
  }
  noteRefusal({ reason: 'not-your-sign-in', userId: session.userId }, scope);
  return page({
    words,
    title: text.foreign,
    status: 403,
    body: html`<p>${text.foreignText(session.name)}</p><p><a href="/sign-out">${words.account.signOut}</a></p>`,
  });
}

/** What is wrong, and at which server. */
interface Problem {
  readonly server: string;
  readonly text: string;
}

function connectPage(
  request: Request,
  session: PageSession,
  visit: SignInVisit,
  problem?: Problem,
): Promise<Response> {
  const words = wordsOf(request);
  const { connect: text } = words;
  if (visit.state === 'done')
    return page({
      words,
      title: text.done,
      body: html`<p class="notice" role="status">${text.doneText(shown(visit.agent))}</p>`,
    });
  if (visit.state === 'over') return page({ words, title: text.over, body: html`<p>${text.overText}</p>` });
  const found = problem ? [{ field: fieldOf(visit, problem.server), text: shown(problem.text) }] : [];
  const parts = visit.servers.map((server, index) => serverPart(words, session, visit, server, index));
  return page({
    words,
    title: text.title,
    status: problem ? 422 : 200,
    body: html`${problems(words, found)}
<p>${text.wants(shown(visit.agent), session.name)}</p>
${parts}
<form method="post" action="/connect/${visit.pauseId}">${hidden('csrf', session.csrf)}${hidden('action', 'decline')}
<div class="actions"><button class="second">${text.decline}</button></div></form>`,
  });
}

function fieldOf({ servers }: SignInVisit, server: string): string {
  return `server-${servers.findIndex(one => one.server === server)}`;
}

function serverPart(
  words: Words,
  session: PageSession,
  { pauseId }: SignInVisit,
  { server, host, how, isThere }: VisitedServer,
  index: number,
): Html {
  const { connect: text } = words;
  const id = `server-${index}`;
  const heading = html`<h2>${shown(server)}</h2>${host === undefined ? '' : html`<p>${text.at} <strong>${shown(host)}</strong></p>`}`;
  if (isThere) return html`${heading}<p class="notice" role="status">${text.isThere}</p>`;
  if (how === undefined) return html`${heading}<p id="${id}">${text.gone}</p>`;
  const asked =
    how === 'oauth'
      ? html`<p class="quiet">${text.oauthHint}</p>`
      : field({
          name: 'token',
          label: text.token,
          type: 'password',
          autocomplete: 'off',
          hint: text.tokenHint,
          maxLength: MAX_TOKEN,
        });
  return html`${heading}
<form method="post" action="/connect/${pauseId}">${hidden('csrf', session.csrf)}${hidden('server', server)}
${asked}
<div class="actions"><button id="${id}">${how === 'oauth' ? text.begin : text.save}</button></div></form>`;
}

/**
 * Sends the browser to the authorization server, and says so. Not as the answer to a form: browsers hold one back that leads to another site, which is
 * what keeps forms of ours from being led anywhere.
 */
function leavePage(request: Request, address: URL): Promise<Response> {
  const words = wordsOf(request);
  const { connect: text } = words;
  return page({
    words,
    title: text.leaving,
    headers: { Refresh: `0; url=${address.href}` },
    body: html`<p>${text.leavingTo} <strong>${address.host}</strong></p>
<p><a href="${address.href}" rel="noreferrer">${text.go}</a></p>`,
  });
}

/** What servers and authors wrote: nothing in it can hide. */
function shown(text: string): string {
  return withHiddenShown(text.replace(/[\t\n\r]+/g, ' ').slice(0, 500));
}

/** `undefined` for what is our own fault. */
function sentenceOf(thrown: unknown): string | undefined {
  if (thrown instanceof SessionError) return thrown.message;
  return thrown instanceof PlatformError && thrown.kind !== 'internal' ? thrown.message : undefined;
}

/** Somebody, or the clock, was quicker. */
function unlessLate(thrown: unknown): void {
  const isLate =
    thrown instanceof PlatformError && (thrown.kind === 'pause_changed' || thrown.kind === 'wrong_state');
  if (!isLate) throw thrown;
}
