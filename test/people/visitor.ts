import type { TestPlatform } from '@patchbay/testing/platform';

/** A page as a browser got it. */
export interface Shown {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Path it sends on to; empty where it does not. */
  readonly location: string;
}

/**
 * A browser as far as pages need one: keeps cookies, fills hidden fields in and names its origin. Goes nowhere by itself. What `attack` changes is
 * sent instead of what a browser would send; `undefined` leaves it out.
 */
export interface Visitor {
  /** The cookies it has, by name. */
  readonly cookies: Map<string, string>;
  get(path: string): Promise<Shown>;
  /** Sends the form of the page that was shown last. */
  send(
    path: string,
    fields: Readonly<Record<string, string>>,
    attack?: { readonly headers?: Readonly<Record<string, string | undefined>>; readonly csrf?: string },
  ): Promise<Shown>;
}

export function newVisitor(base: string): Visitor {
  const cookies = new Map<string, string>();
  let hiddenFields: Record<string, string> = {};

  async function ask(path: string, init: RequestInit): Promise<Shown> {
    const headers = new Headers(init.headers);
    if (cookies.size > 0 && !headers.has('cookie'))
      headers.set('cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '));
    const response = await fetch(base + path, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      if (value === '') cookies.delete(name!);
      else cookies.set(name!, value!);
    }
    const text = await response.text();
    if (response.status < 300)
      hiddenFields = Object.fromEntries(
        [...text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)].map(([, name, value]) => [
          name!,
          value!.replaceAll('&amp;', '&'),
        ]),
      );
    return {
      status: response.status,
      headers: response.headers,
      text,
      location: response.headers.get('location') ?? '',
    };
  }

  return {
    cookies,
    get: path => ask(path, { headers: { 'sec-fetch-mode': 'navigate' } }),
    send(path, fields, { headers = {}, csrf } = {}) {
      const all = {
        origin: new URL(base).origin,
        'content-type': 'application/x-www-form-urlencoded',
        ...headers,
      };
      const kept = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
      const body = new URLSearchParams({ ...hiddenFields, ...(csrf !== undefined && { csrf }), ...fields });
      return ask(path, { method: 'POST', headers: Object.fromEntries(kept), body: String(body) });
    },
  };
}

/** Signs in from the page, and answers what was shown. */
export async function signIn(
  visitor: Visitor,
  login: string,
  password: string,
  returnTo = '/account',
): Promise<Shown> {
  await visitor.get(`/sign-in?return_to=${encodeURIComponent(returnTo)}`);
  return visitor.send('/sign-in', { login, password });
}

/** Signed in with a one-time link: tries with a password are counted for a minute. */
export async function visitorOf({ url, platform }: TestPlatform, userId: string): Promise<Visitor> {
  const visitor = newVisitor(url);
  const { pathname } = new URL((await platform.links.make(userId, 'sign-in')).url);
  await visitor.get(pathname);
  await visitor.send(pathname, {});
  return visitor;
}
