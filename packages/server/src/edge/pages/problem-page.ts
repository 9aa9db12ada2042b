import { html } from 'hono/html';
import { page } from './layout.ts';
import { wordsOf } from './page-guard.ts';

/** What a page says when there is nothing to show, and the status that goes with it. */
const STATUS = { tooOften: 429, failed: 500, busy: 503, realmRefused: 400, realmSilent: 503 } as const;

/** Who comes too early for these may come again. */
const LATER: readonly number[] = [429, 503];

export function problemPage(
  problem: keyof typeof STATUS,
  request: Request,
  cookies: readonly string[] = [],
): Promise<Response> {
  const words = wordsOf(request);
  return page({
    words,
    title: words.page[problem],
    status: STATUS[problem],
    cookies,
    ...(LATER.includes(STATUS[problem]) && { headers: { 'Retry-After': '60' } }),
    body: html`<p>${words.page[`${problem}Text`]}</p>`,
  });
}
