import { createHash } from 'node:crypto';
import { html, raw } from 'hono/html';
import { STYLE } from './style.ts';
import type { Words } from './words.ts';

/** Text of a page in which everything that was put in is escaped. Made by `html` only. */
export type Html = ReturnType<typeof html>;

/** Without script, and nothing of it is fetched: it works wherever the platform is reached. */
export interface PageOptions {
  readonly words: Words;
  readonly title: string;
  readonly body: Html;
  readonly status?: number;
  /** `Set-Cookie` headers. */
  readonly cookies?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Origins, or schemes with their colon, to which the answer to a form of this page may lead. Browsers hold a form back that is
   * redirected anywhere else; our own pages are always allowed.
   */
  readonly leadsTo?: readonly string[];
  /** More room, for tables. */
  readonly wide?: boolean;
}

const STYLE_HASH = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;
const MARK = raw(
  '<svg viewBox="0 0 32 32" aria-hidden="true" focusable="false"><rect width="32" height="32" rx="8" fill="#0b5fc1"/><path d="M9 10v4c0 6 14 2 14 8" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round"/><circle cx="9" cy="9" r="3.6" fill="#fff"/><circle cx="23" cy="23" r="3.6" fill="#fff"/></svg>',
);

/** A page of ours, with the headers every one has: it is kept nowhere, framed nowhere and runs nothing (attack 8). */
export async function page(options: PageOptions): Promise<Response> {
  const { words, title, body, status = 200, cookies = [], headers = {}, leadsTo = [] } = options;
  const text = await html`<!doctype html>
<html lang="${words.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} – Patchbay</title>
<style>${raw(STYLE)}</style>
</head>
<body>
<a class="skip" href="#content">${words.page.toContent}</a>
<header>${MARK}<span>Patchbay</span></header>
<main id="content"${options.wide ? raw(' class="wide"') : ''}>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`;
  const all = new Headers({
    ...PAGE_HEADERS,
    ...headers,
    'Content-Security-Policy': contentSecurityPolicy(leadsTo),
  });
  for (const cookie of cookies) all.append('Set-Cookie', cookie);
  return new Response(String(text), { status, headers: all });
}

/** The day of a time in epoch ms, as UTC has it. */
export function dateOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** Sends the browser to another page with GET, whatever it sent here. */
export function redirectTo(location: string, cookies: readonly string[] = []): Response {
  const headers = new Headers({ ...PAGE_HEADERS, Location: location });
  headers.delete('Content-Type');
  for (const cookie of cookies) headers.append('Set-Cookie', cookie);
  return new Response(null, { status: 303, headers });
}

const PAGE_HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  // `no-referrer` would have browsers send their forms with `Origin: null`, by which we could not know our own.
  'Referrer-Policy': 'same-origin',
};

function contentSecurityPolicy(leadsTo: readonly string[]): string {
  return [
    "default-src 'none'",
    `style-src ${STYLE_HASH}`,
    `form-action ${["'self'", ...leadsTo].join(' ')}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}
