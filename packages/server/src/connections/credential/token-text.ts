/** What a header and a variable can carry; the word of a scheme may stand before it. */
const TOKEN = /^[\x21-\x7e](?:[\x20-\x7e]{0,16382}[\x21-\x7e])?$/;

/** Can this be a credential? */
export function isToken(text: string): boolean {
  return TOKEN.test(text);
}
