/** Where a browser may be sent with a code. */
export type RedirectKind = 'web' | 'this-machine' | 'app';

/** Longer than any client has. */
const MAX_CHARS = 2_000;
const LOOPBACK = /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?(?:[/?]|$)/i;
/** A scheme of an app, spelled as a domain backwards or as the app's name. */
const APP_SCHEME = /^[a-z][a-z0-9+.-]{1,63}:/;
/** Schemes that browsers handle themselves, or that hand a file, a program or a mail to somebody. */
const FORBIDDEN_SCHEMES = new Set(
  'about blob chrome data devtools dns facetime file filesystem ftp ftps intent jar javascript ldap mailto news nntp resource search-ms sftp shell sms ssh tel telnet urn vbscript view-source wss ws'
    .split(' ')
    .map(scheme => `${scheme}:`),
);

/**
 * What kind of address a client may be registered with: https, this machine over http, or a scheme of an app; `undefined` for every other
 * one. Only plain spellings: no user information, fragment, backslash, space, control character or letters that look like others, and hosts that
 * end nothing in the policy of the page that names them (attack 6).
 */
export function kindOfRedirect(uri: string): RedirectKind | undefined {
  if (uri.length > MAX_CHARS || !/^[\x21-\x7e]+$/.test(uri) || /[\\#]/.test(uri)) return undefined;
  const url = URL.parse(uri);
  if (url === null || url.username + url.password !== '') return undefined;
  if (url.protocol === 'https:') {
    return /^https:\/\/[a-z0-9._:[\]-]+(?:[/?]|$)/i.test(uri) ? 'web' : undefined;
  }
  if (url.protocol === 'http:') return isLoopbackRedirect(uri) ? 'this-machine' : undefined;
  const isApp = APP_SCHEME.test(uri) && !FORBIDDEN_SCHEMES.has(url.protocol) && !/^ms-/.test(uri);
  return isApp ? 'app' : undefined;
}

/** An address of this machine over http, whatever its port and path (E-42). */
export function isLoopbackRedirect(uri: string): boolean {
  if (uri.length > MAX_CHARS || !/^[\x21-\x7e]+$/.test(uri) || /[\\#@]/.test(uri)) return false;
  return LOOPBACK.test(uri) && URL.canParse(uri);
}

/** Where the browser goes, as a person may be shown it: host and port, or the scheme of an app. */
export function shownRedirect(uri: string): string {
  const url = new URL(uri);
  return /^https?:$/.test(url.protocol) ? url.host : url.protocol;
}

/** What a form may lead to, for the Content-Security-Policy of the page that has it. */
export function formTarget(uri: string): string {
  const url = new URL(uri);
  return /^https?:$/.test(url.protocol) ? url.origin : url.protocol;
}
