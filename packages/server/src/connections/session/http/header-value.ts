const SAFE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
const LOOKS_ENCODED = /^=\?base64\?.*\?=$/;

/** A value as a header may carry it: what is not safe there is encoded, and so is what would look encoded (2026-07-28, Value Encoding). */
export function headerValue(text: string): string {
  if (text === '' || (SAFE.test(text) && !LOOKS_ENCODED.test(text))) return text;
  return `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`;
}
