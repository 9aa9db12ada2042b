/**
 * What keeps a JSON value of a server from being handed on, reading on after its name; `undefined` when nothing does: containers in more
 * than `maxDepth` containers, the key `__proto__`, a text that `mayHold` does not allow. Takes time linear in the value and no recursion.
 */
export function faultIn(
  value: unknown,
  maxDepth: number,
  mayHold: (text: string) => boolean = isStorable,
): string | undefined {
  const waiting: (readonly [value: unknown, depth: number])[] = [[value, 0]];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [one, depth] = next;
    if (typeof one === 'string' && !mayHold(one)) return UNSTORABLE;
    if (typeof one !== 'object' || one === null) continue;
    if (depth === maxDepth) return `is nested deeper than ${maxDepth} levels`;
    if (Array.isArray(one)) {
      for (const entry of one) waiting.push([entry, depth + 1]);
      continue;
    }
    for (const [key, member] of Object.entries(one)) {
      if (key === '__proto__') return 'has a key "__proto__", which is not allowed';
      if (!mayHold(key)) return UNSTORABLE;
      waiting.push([member, depth + 1]);
    }
  }
  return undefined;
}

const UNSTORABLE = 'holds a character that cannot be stored';

/** U+0000 is what PostgreSQL cannot store, half of a surrogate pair what no store keeps as it is. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** The text with what cannot be stored replaced by U+FFFD. */
export function storable(text: string): string {
  return isStorable(text) ? text : text.toWellFormed().replaceAll('\0', '\ufffd');
}

/** The same of a JSON value, which must be bounded in depth. */
export function storableValue(value: unknown): unknown {
  if (typeof value === 'string') return storable(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(storableValue);
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [storable(key), storableValue(member)]),
  );
}
