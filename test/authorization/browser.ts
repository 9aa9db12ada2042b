import { createCookieJar } from '@patchbay/testing/cookie-jar';

/** A browser as far as our pages need one: cookies with their paths, forms, and redirects one by one. */
export interface Browser {
  get(url: string): Promise<BrowserAnswer>;
  /** As a form of the page at `url` sends it. */
  post(url: string, fields: FormFields, headers?: Readonly<Record<string, string>>): Promise<BrowserAnswer>;
  /** Goes where answers lead, until one leads to another place than ours. */
  follow(answer: BrowserAnswer): Promise<BrowserAnswer>;
  /** Cookies that a request to the path would carry. */
  cookiesFor(path: string): string;
}

export type FormFields = Readonly<Record<string, string | readonly string[]>>;

export interface BrowserAnswer {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Where it leads, absolute. */
  readonly location: URL | undefined;
}

/** `send` answers requests to the platform: over HTTP, to whichever node. */
export function createBrowser(
  base: string,
  send: (url: string, init: RequestInit) => Promise<Response> = fetch,
): Browser {
  const jar = createCookieJar();

  async function ask(url: string, init: RequestInit): Promise<BrowserAnswer> {
    const response = await send(url, {
      ...init,
      redirect: 'manual',
      headers: { ...init.headers, cookie: jar.cookiesFor(new URL(url).pathname) },
    });
    jar.keep(response.headers);
    const location = response.headers.get('location');
    return {
      ...{ url, status: response.status, headers: response.headers, text: await response.text() },
      location: location === null ? undefined : new URL(location, url),
    };
  }

  const get = (url: string) => ask(url, {});
  return {
    get,
    post(url, fields, headers = {}) {
      const body = new URLSearchParams();
      for (const [name, value] of Object.entries(fields))
        for (const each of [value].flat()) body.append(name, each);
      return ask(url, { method: 'POST', body, headers: { origin: new URL(url).origin, ...headers } });
    },
    async follow(answer) {
      let at = answer;
      while (at.location?.origin === new URL(base).origin && at.status >= 300 && at.status < 400) {
        at = await get(at.location.href);
      }
      return at;
    },
    cookiesFor: jar.cookiesFor,
  };
}

/** Values of the hidden fields of a page. */
export function hiddenFields({ text }: BrowserAnswer): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)].map(([, name, value]) => [
      name!,
      value!.replaceAll('&amp;', '&').replaceAll('&quot;', '"').replaceAll('&#39;', "'"),
    ]),
  );
}
