/** A gate answers with one of these: refusals are values, failures are errors (architecture, idea 9). */
export type Outcome<T, R extends { readonly reason: string }> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: R };

export function granted<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

export function refused<R extends { readonly reason: string }>(
  refusal: R,
): { readonly ok: false; readonly refusal: R } {
  return { ok: false, refusal };
}
