import { html } from 'hono/html';
import type { Cookies } from '../../auth/page/cookies.ts';
import type { PageSession, PageSessions } from '../../auth/page/page-sessions.ts';
import { csrfFits, csrfOf, newPageToken } from '../../auth/page/page-token.ts';
import { granted, type Outcome, refused } from '../../kernel/result.ts';
import type { HostCheck } from '../http/host-check.ts';
import type { RequestScope } from '../http/request-scope.ts';
import { type Form, readForm } from './form.ts';
import { page, redirectTo } from './layout.ts';
import { signInPath } from './own-path.ts';
import { type Words, wordsFor } from './words.ts';

/** Why a page was not shown, or a form not taken; `response` is what the browser gets instead. */
export interface PageRefusal {
  readonly reason: 'not-signed-in' | 'foreign-page' | 'not-a-form' | 'bad-csrf';
  readonly response: Response;
}

/** Told of every form that was not taken, and of every try to sign in that failed. */
export type NotePageRefusal = (
  refusal: { readonly reason: string; readonly userId?: string | undefined },
  scope: RequestScope,
) => void;

/** What every page asks first. */
export interface PageGuard {
  /** Who is signed in in this browser. Anybody else is sent to sign in, and from there back to this address. */
  visit(request: Request): Promise<Outcome<PageSession, PageRefusal>>;
  /**
   * A form that the person who is signed in has sent, from a page of ours with the session's `csrf`. Who is no longer signed in is
   * sent to sign in, and from there to the address of the form with GET.
   */
  submit(
    request: Request,
    scope: RequestScope,
  ): Promise<Outcome<{ readonly session: PageSession; readonly form: Form }, PageRefusal>>;
  /** For a form of a page that needs nobody signed in: its `csrf`, and the cookies to set with it. */
  greet(request: Request): { readonly csrf: string; readonly cookies: readonly string[] };
  /** Such a form that was sent from a page of ours in this browser (login CSRF, attack 8). */
  submitAnonymously(request: Request, scope: RequestScope): Promise<Outcome<Form, PageRefusal>>;
}

export function createPageGuard(deps: {
  readonly sessions: Pick<PageSessions, 'read'>;
  readonly cookies: Cookies;
  readonly hostCheck: Pick<HostCheck, 'isOwnPage'>;
  readonly noteRefusal: NotePageRefusal;
}): PageGuard {
  const { sessions, cookies, hostCheck } = deps;

  async function refuse(
    reason: PageRefusal['reason'],
    request: Request,
    scope: RequestScope,
    userId?: string,
  ): Promise<{ readonly ok: false; readonly refusal: PageRefusal }> {
    deps.noteRefusal({ reason, userId }, scope);
    const words = wordsOf(request);
    const { refused: title, refusedText } = words.page;
    const response = await page({ words, title, status: 403, body: html`<p>${refusedText}</p>` });
    return refused({ reason, response });
  }

  async function formOf(request: Request, scope: RequestScope): Promise<Outcome<Form, PageRefusal>> {
    const { headers } = request;
    const own = hostCheck.isOwnPage({
      host: headers.get('host') ?? undefined,
      origin: headers.get('origin') ?? undefined,
    });
    if (!own) return refuse('foreign-page', request, scope);
    const form = await readForm(request);
    return form.ok ? form : refuse('not-a-form', request, scope);
  }

  async function visit(request: Request): Promise<Outcome<PageSession, PageRefusal>> {
    const session = await sessions.read(cookieHeader(request));
    if (session) return granted(session);
    const { pathname, search } = new URL(request.url);
    const path = request.method === 'GET' || request.method === 'HEAD' ? pathname + search : pathname;
    return refused({ reason: 'not-signed-in', response: redirectTo(signInPath(path)) });
  }

  return {
    visit,
    async submit(request, scope) {
      const form = await formOf(request, scope);
      if (!form.ok) return form;
      const visitor = await visit(request);
      if (!visitor.ok) return visitor;
      const session = visitor.value;
      if (!csrfFits(session.csrf, form.value.one('csrf')))
        return refuse('bad-csrf', request, scope, session.userId);
      return granted({ session, form: form.value });
    },
    greet(request) {
      const known = cookies.read(cookieHeader(request), 'form');
      if (known !== undefined) return { csrf: csrfOf(known), cookies: [] };
      const token = newPageToken();
      return { csrf: csrfOf(token), cookies: [cookies.set('form', token)] };
    },
    async submitAnonymously(request, scope) {
      const form = await formOf(request, scope);
      if (!form.ok) return form;
      const token = cookies.read(cookieHeader(request), 'form');
      if (token === undefined || !csrfFits(csrfOf(token), form.value.one('csrf')))
        return refuse('bad-csrf', request, scope);
      return form;
    },
  };
}

export function wordsOf(request: Request): Words {
  return wordsFor(request.headers.get('accept-language') ?? undefined);
}

export function cookieHeader(request: Request): string | undefined {
  return request.headers.get('cookie') ?? undefined;
}
