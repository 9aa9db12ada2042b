/** Names come from documents: one such as `constructor` must not find what a plain object inherits. */
export function timesOf(counts: Readonly<Record<string, number>>, name: string): number {
  return Object.hasOwn(counts, name) ? counts[name]! : 0;
}
