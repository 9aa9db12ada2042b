/** The known name that takes the fewest edits, if it is near enough to be meant. */
export function closestName(name: string, known: readonly string[]): string | undefined {
  // Further away it is another word; the bound also keeps a long key cheap.
  const near = (candidate: string) => Math.max(2, Math.floor(candidate.length / 4));
  const ranked = known
    .filter(candidate => Math.abs(candidate.length - name.length) <= near(candidate))
    .map(candidate => ({ candidate, edits: editDistance(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, edits }) => edits <= near(candidate))
    .sort((a, b) => a.edits - b.edits);
  return ranked[0]?.candidate;
}

function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[to.length]!;
}
