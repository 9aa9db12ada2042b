import { type CookieJar, createCookieJar } from '@patchbay/testing/cookie-jar';
import type { TestPlatform } from '@patchbay/testing/platform';
import { expect } from 'vitest';

/** A page as a browser without script has it. */
export interface Visited {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** A browser that a test looks into: it keeps cookies, follows addresses and sends forms. */
export interface Visitor {
  get(url: string): Promise<Visited>;
  /** Sends the form of a page that has this in it, with other values or more of them. */
  send(page: Visited, has: string, values?: Readonly<Record<string, string>>): Promise<Visited>;
  /** From now on goes nowhere else: where it would have gone is the `url` of a page that is not there. */
  staysAt(origin: string | undefined): void;
}

export function newVisitor(): Visitor {
  let home: string | undefined;
  const jars = new Map<string, CookieJar>();
  const jarOf = ({ hostname }: URL) => {
    const jar = jars.get(hostname) ?? createCookieJar();
    jars.set(hostname, jar);
    return jar;
  };

  async function visit(url: string, init: RequestInit = {}): Promise<Visited> {
    const at = new URL(url);
    const headers = { ...init.headers, cookie: jarOf(at).cookiesFor(at.pathname) };
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    jarOf(at).keep(response.headers);
    const text = await response.text();
    const refresh = /^0; url=(.+)$/.exec(response.headers.get('refresh') ?? '')?.[1];
    const next = response.headers.get('location') ?? refresh;
    const onward = next === undefined ? undefined : new URL(next, url);
    if (onward && home !== undefined && onward.origin !== home)
      return { url: onward.href, status: 0, headers: new Headers(), text: '' };
    if (onward) return visit(onward.href);
    return { url, status: response.status, headers: response.headers, text };
  }

  return {
    staysAt(origin) {
      home = origin;
    },
    get: url => visit(url),
    send(page, has, values = {}) {
      const forms = [...page.text.matchAll(/<form method="post" action="([^"]+)">(.*?)<\/form>/gs)];
      const form = forms.find(([whole]) => whole.includes(has));
      if (!form) throw new Error(`no form with ${has} in ${page.text}`);
      const fields = [...form[2]!.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
      const body = new URLSearchParams(
        fields.map(([, name = '', value = '']): [string, string] => [name, value]),
      );
      for (const [name, value] of Object.entries(values)) body.set(name, value);
      const url = new URL(form[1]!, page.url);
      return visit(url.href, { method: 'POST', body, headers: { origin: url.origin } });
    },
  };
}

/** Somebody who is signed in at the pages of a platform. */
export async function signedIn(platform: Pick<TestPlatform, 'platform'>, userId: string): Promise<Visitor> {
  const visitor = newVisitor();
  const { url } = await platform.platform.links.make(userId, 'sign-in');
  const account = await visitor.send(await visitor.get(url), '<button');
  expect([account.status, new URL(account.url).pathname]).toEqual([200, '/account']);
  return visitor;
}
