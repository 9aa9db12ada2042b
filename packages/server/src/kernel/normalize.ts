/** As many marks on one letter as UAX #15 lets a text have that is normalized as it comes in. */
const MAX_MARKS = 30;
const TOO_MANY_MARKS = new RegExp(`(\\p{M}{${MAX_MARKS}})\\p{M}+`, 'gu');

/**
 * The text in a normal form of Unicode, in time linear to its length: marks are put in order one by one, so what stands behind the
 * first thirty marks of a letter is left out.
 */
export function normalizeText(text: string, form: 'NFC' | 'NFD'): string {
  const bounded = text.length > MAX_MARKS ? text.replace(TOO_MANY_MARKS, '$1') : text;
  return bounded.normalize(form);
}
