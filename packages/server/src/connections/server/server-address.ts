/** Where secrets stand in an address besides its query: what was made by a machine and is as long as a token. */
const LONG_WORD = /^(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9_~-]{20,}$/;
/** Any of the same in base64 too. */
const RANDOM = /^(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9_+=.~/-]{20,}$/;

/** Does a text look like what a machine has made, as tokens and keys do? Words, paths and addresses do not. */
export function looksRandom(text: string): boolean {
  return RANDOM.test(text) && !/^(?:[~.]*\/|[A-Za-z]+:\/\/)/.test(text);
}

/** One part of a path. */
export function isLongWord(segment: string): boolean {
  return LONG_WORD.test(segment);
}

/**
 * The address of a server for people and logs: without query and fragment, and with three dots for parts of its path that may be a
 * credential. References stay as they are.
 */
export function shownAddress(url: string): string {
  return url.replace(/[?#].*$/s, '').replace(/(?<=[^/:]\/)[^/]+/g, part => (isLongWord(part) ? '...' : part));
}
