/**
 * Does the text fit the pattern, in which `*` stands for any characters, also none, and everything else for itself? Takes at most as many
 * steps as the product of both lengths, whatever the pattern: a regular expression of many wildcards takes ages.
 */
export function matchesWildcard(pattern: string, text: string): boolean {
  let at = 0;
  let next = 0;
  /** Behind the last `*`, and how far what it stands for goes. */
  let star = -1;
  let taken = 0;
  while (at < text.length) {
    if (pattern[next] === '*') {
      next += 1;
      star = next;
      taken = at;
    } else if (pattern[next] === text[at]) {
      next += 1;
      at += 1;
    } else if (star >= 0) {
      taken += 1;
      at = taken;
      next = star;
    } else return false;
  }
  while (pattern[next] === '*') next += 1;
  return next === pattern.length;
}
