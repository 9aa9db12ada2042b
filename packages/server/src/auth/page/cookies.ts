/** Which cookies of ours there are. */
export type CookieName = 'session' | 'form' | 'realm';

/** Cookies of pages: out of reach of scripts, and sent with nothing that another site begins but a link to us. */
export interface Cookies {
  /** `undefined` also for a value that none of ours has. */
  read(cookieHeader: string | undefined, name: CookieName): string | undefined;
  /** A `Set-Cookie` header. Lasts as long as the browser is open. */
  set(name: CookieName, value: string): string;
  clear(name: CookieName): string;
}

const TOKEN = /^[\w-]{43}$/;

export function createCookies(options: {
  /** The public address is https. */ readonly secure: boolean;
}): Cookies {
  // A name with this prefix is taken by browsers only from this very host, and over TLS: no neighbour can plant it.
  const prefix = options.secure ? '__Host-' : '';
  const attributes = `; Path=/; HttpOnly; SameSite=Lax${options.secure ? '; Secure' : ''}`;
  const wireName = (name: CookieName) => `${prefix}patchbay${name === 'session' ? '' : `-${name}`}`;
  return {
    read(header, name) {
      const values = (header ?? '')
        .split(';')
        .map(pair => pair.trim())
        .filter(pair => pair.startsWith(`${wireName(name)}=`))
        .map(pair => pair.slice(pair.indexOf('=') + 1));
      // Of two with one name, one was planted by somebody else.
      const [value, ...others] = values;
      return value !== undefined && others.length === 0 && TOKEN.test(value) ? value : undefined;
    },
    set: (name, value) => `${wireName(name)}=${value}${attributes}`,
    clear: name => `${wireName(name)}=${attributes}; Max-Age=0`,
  };
}
