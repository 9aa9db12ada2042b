/**
 * One of the alternatives for the `turn`-th time (from 0) something is said. Like a pack of cards shuffled once for the
 * seed and dealt over and over: every alternative is said before one comes again, and with two or more none is said
 * twice running. Nothing has to be kept between turns, so it holds across restarts and nodes.
 */
export function pickAlternative<T>(alternatives: readonly T[], turn: number, seed: string): T {
  if (alternatives.length === 1) return alternatives[0]!;
  const next = seededRandom(seed);
  const pack = [...alternatives];
  for (let i = pack.length - 1; i > 0; i--) {
    const j = next() % (i + 1);
    [pack[i], pack[j]] = [pack[j]!, pack[i]!];
  }
  return pack[turn % pack.length]!;
}

/** 32-bit numbers by FNV-1a over the seed, then splitmix32: chance enough for choosing words. */
function seededRandom(seed: string): () => number {
  let state = 0x811c9dc5;
  for (let i = 0; i < seed.length; i++) state = Math.imul(state ^ seed.charCodeAt(i), 0x01000193);
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  };
}
