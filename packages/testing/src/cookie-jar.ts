/** What a browser keeps of one host, whatever the port: cookies with their paths. */
export interface CookieJar {
  /** A `Cookie` header for the path; empty where it would carry none. */
  cookiesFor(path: string): string;
  /** Keeps what an answer sets, and forgets what it ends. */
  keep(answer: Headers): void;
}

export function createCookieJar(): CookieJar {
  const cookies = new Map<string, { readonly name: string; readonly value: string; readonly path: string }>();

  function keepOne(header: string): void {
    const [pair = '', ...attributes] = header.split(/;\s*/);
    const [name, value] = [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)];
    const path = attributes.find(each => /^path=/i.test(each))?.slice(5) ?? '/';
    const isOver = attributes.some(
      each => /^max-age=0$/i.test(each) || /^expires=Thu, 01 Jan 1970/i.test(each),
    );
    if (isOver) cookies.delete(`${name} ${path}`);
    else cookies.set(`${name} ${path}`, { name, value, path });
  }

  return {
    cookiesFor: path =>
      [...cookies.values()]
        .filter(cookie => path.startsWith(cookie.path))
        .map(({ name, value }) => `${name}=${value}`)
        .join('; '),
    keep(answer) {
      for (const header of answer.getSetCookie()) keepOne(header);
    },
  };
}
