/**
 * Characters that a person does not see and a model reads: zero-width ones, marks of direction, tags, fillers, selectors of variants, and
 * controls besides tab and line ends.
 */
const HIDDEN = /(?![\t\n\r])[\p{Cc}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]/gu;

/** The text as a person sees it. */
export function withoutHidden(text: string): string {
  return text.replace(HIDDEN, '');
}

/** The text with what cannot be seen spelled out, `\u{e0041}`: for people who compare texts. */
export function withHiddenShown(text: string): string {
  return text.replace(HIDDEN, character => `\\u{${character.codePointAt(0)!.toString(16)}}`);
}
