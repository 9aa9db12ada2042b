/** Where somebody goes who was going nowhere in particular. */
export const HOME = '/account';

const MAX_PATH_CHARS = 4_000;
/** Of a base that is nobody's address. */
const NOWHERE = 'http://own.invalid';

/**
 * A path of ours to go on to, from what a request named: never an address of somebody else's, however it is written. `otherwise`
 * where it is none.
 */
export function ownPath(text: string, otherwise: string): string {
  if (text.length > MAX_PATH_CHARS || !text.startsWith('/') || text.startsWith('//')) return otherwise;
  // Browsers read a backslash as a slash, and skip tabs and line breaks.
  if (/[\\\p{Cc}]/u.test(text) || !URL.canParse(text, NOWHERE)) return otherwise;
  const url = new URL(text, NOWHERE);
  const path = url.pathname + url.search + url.hash;
  return url.origin === NOWHERE && !path.startsWith('//') ? path : otherwise;
}

/** Where somebody signs in who then goes on to `path`. */
export function signInPath(path: string): string {
  return `/sign-in?return_to=${encodeURIComponent(path)}`;
}
