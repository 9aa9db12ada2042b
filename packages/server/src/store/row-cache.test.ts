import { describe, expect, it } from 'vitest';
import { BELIEVED_MS, createRowCache, READ_AGAIN_MS } from './row-cache.ts';

interface Row {
  readonly id: string;
  readonly text: string;
}

/** A table of one test, its clock, and how often it was asked. */
function setUp() {
  const table = new Map<string, Row>();
  const clock = { now: () => time };
  let time = 1_000_000;
  let asked = 0;
  /** When it was last certain that no news is missing. */
  let completeAt = Number.NEGATIVE_INFINITY;
  const cache = createRowCache<Row>({
    clock,
    store: { newsAgeMs: () => time - completeAt },
    load: async id => {
      asked += 1;
      return table.get(id);
    },
  });
  const noNews = () => (completeAt = time);
  const put = (id: string, text: string) => table.set(id, { id, text });
  return { table, cache, put, noNews, pass: (ms: number) => (time += ms), asked: () => asked };
}

describe('a row cache', () => {
  it('recalls what was read for a second, and no longer while news may be missing', async () => {
    const { cache, put, pass } = setUp();
    put('a', 'first');
    expect(cache.recall('a')).toBeUndefined();
    await cache.read('a');
    put('a', 'second');
    pass(BELIEVED_MS - 1);
    expect(cache.recall('a')).toEqual({ id: 'a', text: 'first' });
    pass(1);
    expect(cache.recall('a')).toBeUndefined();
    expect(await cache.read('a')).toEqual({ id: 'a', text: 'second' });
  });

  it('recalls it on while it is certain that no news is missing, for half a minute', async () => {
    const { cache, put, pass, noNews } = setUp();
    put('a', 'first');
    await cache.read('a');
    for (let passed = 0; passed < READ_AGAIN_MS; passed += 500) {
      noNews();
      expect(cache.recall('a')).toBeDefined();
      pass(500);
    }
    noNews();
    expect(cache.recall('a')).toBeUndefined();
  });

  it('recalls it until a second after that was certain', async () => {
    const { cache, put, pass, noNews } = setUp();
    put('a', 'first');
    await cache.read('a');
    pass(700);
    noNews();
    pass(BELIEVED_MS - 1);
    expect(cache.recall('a')).toBeDefined();
    pass(1);
    expect(cache.recall('a')).toBeUndefined();
  });

  it('recalls nothing when the clock was set back', async () => {
    const { cache, put, pass } = setUp();
    put('a', 'first');
    await cache.read('a');
    pass(-1);
    expect(cache.recall('a')).toBeUndefined();
  });

  it('forgets what news says has changed, and only that', async () => {
    const { cache, put } = setUp();
    put('a', 'one');
    put('b', 'two');
    await Promise.all([cache.read('a'), cache.read('b')]);
    cache.forget(row => row.id === 'a');
    expect([cache.recall('a'), cache.recall('b')]).toEqual([undefined, { id: 'b', text: 'two' }]);
  });

  it('does not remember what was read before the news and arrives after it', async () => {
    const { cache, put } = setUp();
    put('a', 'old');
    const reading = cache.read('a');
    put('a', 'new');
    cache.forget(row => row.id === 'a');
    expect(await reading).toEqual({ id: 'a', text: 'old' });
    expect(cache.recall('a')).toBeUndefined();
  });

  it('forgets a row that is found gone', async () => {
    const { table, cache, put } = setUp();
    put('a', 'one');
    await cache.read('a');
    table.delete('a');
    expect(await cache.read('a')).toBeUndefined();
    expect(cache.recall('a')).toBeUndefined();
  });

  it('asks each time for what is not there', async () => {
    const { cache, asked } = setUp();
    for (let count = 0; count < 10; count += 1) await cache.read('guess');
    expect(asked()).toBe(10);
  });

  it('keeps the rows that were read last when there are too many', async () => {
    const { cache, put } = setUp();
    for (let count = 0; count < 5_000; count += 1) {
      put(String(count), '');
      await cache.read(String(count));
    }
    const kept = Array.from({ length: 5_000 }, (_, count) => cache.recall(String(count))).filter(Boolean);
    expect(kept).toHaveLength(4_000);
    expect(kept[0]?.id).toBe('1000');
  });
});
