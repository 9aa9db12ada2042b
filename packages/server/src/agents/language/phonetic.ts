import { normalizeText } from '../../kernel/normalize.ts';

/** What is written in several ways and sounds alike in English, in this order; each rule sees what the ones before left. */
const SOUNDS: readonly (readonly [written: RegExp, sounds: string])[] = [
  [/^(?:kn|gn|pn)/, 'n'],
  [/^wr/, 'r'],
  [/^ps/, 's'],
  [/^wh/, 'w'],
  [/^x/, 's'],
  [/mb$/, 'm'],
  [/(?:tch|ch)/g, 'C'],
  [/(?:sch|sh|s(?=i[oa])|c(?=i[oa])|t(?=i[oa]))/g, 'S'],
  [/ph/g, 'f'],
  [/th/g, '0'],
  [/dg(?=[eiy])/g, 'j'],
  [/gh(?![aeiou])/g, ''],
  [/gh/g, 'g'],
  [/g(?=[eiy])/g, 'j'],
  [/ck/g, 'k'],
  [/c(?=[eiy])/g, 's'],
  [/[cq]/g, 'k'],
  [/x/g, 'ks'],
  [/z/g, 's'],
  [/v/g, 'f'],
  [/[dt]/g, 't'],
  [/[wy](?![aeiou])/g, ''],
  [/h(?![aeiou])/g, ''],
];

/**
 * A key that English words have in common when they sound alike: consonants by their sound, vowels only where a word begins.
 * `undefined` for words with other letters than those of English, and for ones too short to tell.
 */
export function soundOf(folded: string): string | undefined {
  const plain = normalizeText(folded, 'NFD').replace(/\p{M}/gu, '');
  if (!/^[a-z']{3,60}$/.test(plain)) return undefined;
  let sound = plain.replaceAll("'", '');
  for (const [written, sounds] of SOUNDS) sound = sound.replace(written, sounds);
  sound = sound
    .replace(/^[aeiou]+/, 'A')
    .replace(/(?!^)[aeiou]+/g, '')
    .replace(/(.)\1+/g, '$1');
  return sound.length < 2 ? undefined : sound;
}
