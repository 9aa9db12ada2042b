export type PasswordRefusal = { readonly reason: 'too-short' | 'too-long' | 'too-easy' };

/** Characters as people count them. NIST SP 800-63B asks for 8 at least and 64 at most or more. */
const MIN_PASSWORD_CHARS = 12;
export const MAX_PASSWORD_CHARS = 256;

/** What lists of passwords begin with: such a word and whatever digits behind it fool nobody. */
const COMMON =
  /^(?:(?:password|passw0rd|passwort|jelszo|admin|administrator|welcome|letmein|qwerty|qwertz|qwertyuiop|qwertzuiop|asdfghjkl|iloveyou|patchbay|changeme|secret)[^a-z]*)+$/;
const MIN_DIFFERENT_CHARS = 5;

/** Why this may not become a password; `undefined` when it may. Length decides, and not which kinds of characters there are. */
export function refusePassword(
  password: string,
  person: { readonly login: string | undefined },
): PasswordRefusal | undefined {
  const chars = [...password.normalize('NFKC')];
  if (chars.length < MIN_PASSWORD_CHARS) return { reason: 'too-short' };
  if (isTooLong(password)) return { reason: 'too-long' };
  const plain = chars.join('').toLowerCase();
  const withoutLogin = person.login === undefined ? plain : plain.replaceAll(person.login, '');
  const isEasy =
    new Set(plain).size < MIN_DIFFERENT_CHARS ||
    COMMON.test(plain) ||
    isSequence(plain) ||
    withoutLogin.length < MIN_PASSWORD_CHARS / 2;
  return isEasy ? { reason: 'too-easy' } : undefined;
}

/** What is longer is no password of anybody, and is not hashed. */
export function isTooLong(password: string): boolean {
  return (
    password.length > 4 * MAX_PASSWORD_CHARS || [...password.normalize('NFKC')].length > MAX_PASSWORD_CHARS
  );
}

/** `123456789012`, `abcdefghijkl`: each character follows the one before, 9 followed by 0. */
function isSequence(text: string): boolean {
  return [...text].every((char, at) => {
    if (at === 0) return true;
    const step = char.charCodeAt(0) - text.charCodeAt(at - 1);
    return step === 1 || step === -9;
  });
}
