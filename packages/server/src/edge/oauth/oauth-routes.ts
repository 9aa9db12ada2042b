import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { html } from 'hono/html';
import type { AuthorizationServer } from '../../auth/server/authorization-server.ts';
import type { LibraryAnswer } from '../../auth/server/exchange.ts';
import { readClient } from '../../auth/server/registration.ts';
import type { NoteRefusal } from '../../records/audit/refusals.ts';
import { readJsonBody, readTextBody } from '../http/body.ts';
import type { ScopedEnv } from '../http/request-scope.ts';
import { page } from '../pages/layout.ts';
import { cookieHeader, wordsOf } from '../pages/page-guard.ts';
import { problemPage } from '../pages/problem-page.ts';
import type { OAuthRate } from './oauth-rate.ts';

type Env = { Bindings: HttpBindings; Variables: ScopedEnv['Variables'] };

/** A description of a client has no more, and a form of the token endpoint far less. */
const MAX_REGISTRATION_BYTES = 8 * 1024;
const MAX_FORM_BYTES = 16 * 1024;
const RETRY_AFTER_S = '60';

/** The endpoints of the authorization server. What people see of them are pages of ours. */
export function createOAuthRoutes(deps: {
  readonly server: AuthorizationServer;
  readonly rate: OAuthRate;
  readonly refused: NoteRefusal;
}): Hono<Env> {
  const { server, rate, refused } = deps;
  const routes = new Hono<Env>();

  /** Where the browser goes, or a page that says what is wrong: never to an address that the client has not registered (B-33). */
  async function toBrowser(c: Context<Env>, answer: LibraryAnswer): Promise<Response> {
    if (answer.status < 400) return new Response(null, { status: 303, headers: redirectHeaders(answer) });
    const { error, error_description: description } = JSON.parse(answer.body) as Record<string, string>;
    const words = wordsOf(c.req.raw);
    const about =
      error === 'invalid_client'
        ? { title: words.consent.unknown, text: words.consent.unknownText }
        : { title: words.consent.wrong, text: words.consent.wrongText };
    return page({
      words,
      title: about.title,
      status: answer.status,
      body: html`<p>${about.text}</p>
<p class="quiet"><code>${error}</code> ${description}</p>`,
    });
  }

  const tooOften = (what: string) =>
    refused({ door: 'oauth', reason: 'too-often', subject: { endpoint: what } });

  routes.get('/oauth/authorize', async c => {
    if (!(await rate.admits('authorize', addressOf(c)))) {
      tooOften('authorize');
      return problemPage('tooOften', c.req.raw);
    }
    const { searchParams } = new URL(c.req.url);
    return toBrowser(c, await server.authorize(searchParams, cookieHeader(c.req.raw)));
  });
  routes.get('/oauth/authorize/:uid', async c =>
    toBrowser(c, await server.goOn(c.req.param('uid'), cookieHeader(c.req.raw))),
  );

  for (const endpoint of ['token', 'revoke', 'introspect'] as const) {
    routes.post(`/oauth/${endpoint}`, async c => {
      const form = await readForm(c.req.raw);
      if (form === undefined) {
        refused({ door: 'oauth', reason: 'not-a-form', subject: { endpoint } });
        return badRequest('The body must be application/x-www-form-urlencoded, and no larger than 16 KiB.');
      }
      const authorization = c.req.header('authorization');
      return toClient(await server[endpoint](form, { authorization }));
    });
  }

  routes.post('/oauth/register', async c => {
    const said = await readJsonBody(c.req.raw, MAX_REGISTRATION_BYTES);
    const client = said.ok ? readClient(said.value) : said;
    if (!client.ok) {
      const { reason, message } = client.refusal;
      const error = reason === 'invalid_redirect_uri' ? reason : 'invalid_client_metadata';
      refused({ door: 'oauth', reason: error.replaceAll('_', '-') });
      return badRequest(message, error);
    }
    // Those that are kept are counted: what is refused costs nobody anything.
    if (await rate.admits('register', addressOf(c))) return toClient(await server.register(client.value));
    tooOften('register');
    const body = {
      error: 'temporarily_unavailable',
      error_description: 'Too many clients register; wait a minute.',
    };
    return Response.json(body, { status: 429, headers: { ...NOT_STORED, 'Retry-After': RETRY_AFTER_S } });
  });

  routes.get('/oauth/jwks', async () => toClient(await server.jwks()));
  return routes;
}

const NOT_STORED = { 'Cache-Control': 'no-store' };

function addressOf(c: Context<Env>): string | undefined {
  return c.env?.incoming?.socket.remoteAddress;
}

async function readForm(request: Request): Promise<URLSearchParams | undefined> {
  const type = (request.headers.get('content-type') ?? '').split(';')[0]!.trim().toLowerCase();
  if (type !== 'application/x-www-form-urlencoded') return undefined;
  const text = await readTextBody(request, MAX_FORM_BYTES);
  return text.ok ? new URLSearchParams(text.value) : undefined;
}

function badRequest(description: string, error = 'invalid_request'): Response {
  return Response.json({ error, error_description: description }, { status: 400, headers: NOT_STORED });
}

function redirectHeaders({ headers }: LibraryAnswer): Headers {
  const kept = new Headers({
    ...NOT_STORED,
    Location: headers.get('location') ?? '/',
    'Referrer-Policy': 'no-referrer',
  });
  for (const cookie of headers.getSetCookie()) kept.append('Set-Cookie', cookie);
  return kept;
}

function toClient({ status, headers, body }: LibraryAnswer): Response {
  const kept = new Headers(NOT_STORED);
  for (const name of ['content-type', 'cache-control', 'www-authenticate']) {
    const value = headers.get(name);
    if (value !== null) kept.set(name, value);
  }
  return new Response(body, { status, headers: kept });
}
