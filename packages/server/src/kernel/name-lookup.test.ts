import { describe, expect, it } from 'vitest';
import { createNameLookup } from './name-lookup.ts';

/** A look-up whose answers the test gives. */
function controlled() {
  const open = new Map<string, { found: (addresses: readonly string[]) => void; gone: () => void }>();
  const asked: string[] = [];
  let most = 0;
  const lookup = createNameLookup(
    name =>
      new Promise((resolve, reject) => {
        asked.push(name);
        const end = (then: () => void) => {
          open.delete(name);
          then();
        };
        open.set(name, {
          found: addresses => end(() => resolve(addresses)),
          gone: () => end(() => reject(new Error(`${name} is not known`))),
        });
        most = Math.max(most, open.size);
      }),
  );
  return {
    lookup,
    asked,
    find: (name: string) => open.get(name)!.found([`${name}'s address`]),
    lose: (name: string) => open.get(name)!.gone(),
    under: () => [...open.keys()],
    most: () => most,
  };
}

const turn = () => new Promise(resolve => setImmediate(resolve));
const names = (count: number, word: string) => Array.from({ length: count }, (_, n) => `${word}${n}`);

describe('The look-up of a name', () => {
  it('gives its addresses, and asks again the next time', async () => {
    const { lookup, find, asked } = controlled();
    for (let n = 0; n < 2; n++) {
      const found = lookup('a');
      find('a');
      expect(await found).toEqual(["a's address"]);
    }
    expect(asked).toEqual(['a', 'a']);
  });

  it('is done once for all who ask at once, also when it fails', async () => {
    const { lookup, lose, asked } = controlled();
    const all = Promise.allSettled(Array.from({ length: 100 }, () => lookup('a')));
    lose('a');
    expect((await all).every(({ status }) => status === 'rejected')).toBe(true);
    expect(asked).toEqual(['a']);
  });

  it('is one of few at a time, so that threads are left for the rest', async () => {
    const { lookup, find, lose, under, most } = controlled();
    const known = names(3, 'known').map(lookup);
    const dead = Promise.allSettled(names(50, 'dead').map(lookup));
    for (let open = under(); open.length > 0; open = under()) {
      expect(open.length).toBeLessThanOrEqual(2);
      for (const name of open) name.startsWith('known') ? find(name) : lose(name);
      await turn();
    }
    await Promise.all(known);
    await dead;
    void Promise.allSettled(['dead', 'known', 'new'].flatMap(word => names(3, word)).map(lookup));
    await turn();
    expect(under()).toEqual(['dead0', 'known0', 'new0', 'new1']);
    find('new0');
    await turn();
    expect(under()).toEqual(['dead0', 'known0', 'new1', 'new2']);
    expect(most()).toBe(4);
  });

  it('of one that was found the last time waits neither for those that were not nor for new ones', async () => {
    const { lookup, find, lose, under } = controlled();
    const [good, bad] = [lookup('good'), lookup('bad')];
    find('good');
    lose('bad');
    await Promise.allSettled([good, bad]);
    void Promise.allSettled(['bad', ...names(10, 'new')].map(lookup));
    const again = lookup('good');
    await turn();
    expect(under()).toContain('good');
    find('good');
    expect(await again).toEqual(["good's address"]);
  });

  it('of one that is found again is as good as others', async () => {
    const { lookup, find, lose, under } = controlled();
    const failed = lookup('a').catch(() => 'not found');
    lose('a');
    expect(await failed).toBe('not found');
    const found = lookup('a');
    find('a');
    await found;
    void Promise.allSettled(['b', 'a'].map(lookup));
    lose('b');
    await turn();
    void Promise.allSettled(['b'].map(lookup));
    await turn();
    expect(under()).toEqual(['a', 'b']);
  });
});
