/** What the library says of a refusal, and our word for it. Looked through in this order. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/code already consumed|^already used/, 'code-used-again'],
  [/refresh token already used/, 'refresh-token-used-again'],
  [/code_challenge_method|not supported value/, 'no-pkce'],
  [/code_verifier/, 'wrong-verifier'],
  [/redirect_uri mismatch/, 'other-redirect-uri'],
  [/authorization code (?:not found|is expired)/, 'unknown-code'],
  [/refresh token (?:not found|is expired)/, 'unknown-refresh-token'],
  [/grant (?:not found|is expired)/, 'grant-revoked'],
  [/account not found/, 'unknown-person'],
  [/client mismatch/, 'other-client'],
  [/client not found/, 'unknown-client'],
  [/invalid secret provided/, 'wrong-client-secret'],
  [/mechanism does not match/, 'other-client-authentication'],
  [/only be provided using one mechanism/, 'two-client-authentications'],
  [/does not match any|did not match any/, 'redirect-uri-not-registered'],
  [/session|answered already|authorization request has expired/, 'other-browser'],
  [/missing required parameter/, 'missing-parameter'],
];

/** Why something was refused, as a word of ours: what the caller sent is never part of it. */
export function reasonOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'invalid-request';
  const {
    error: code,
    error_description: description,
    error_detail: detail,
  } = error as Record<string, unknown>;
  const said = [detail, description].filter(each => typeof each === 'string').join(' ');
  const known = REASONS.find(([pattern]) => pattern.test(said))?.[1];
  return known ?? (typeof code === 'string' ? code.replaceAll('_', '-') : 'invalid-request');
}
