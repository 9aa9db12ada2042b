import { describe, expect, it } from 'vitest';
import { granted, type Outcome, refused } from '../../kernel/result.ts';
import { rememberVerified } from './verified-tokens.ts';

/** Reads tokens like `good-1`, which end at 1000; counts how often each was looked at. */
function reader() {
  const looked = new Map<string, number>();
  let now = 0;
  const read = rememberVerified(
    { now: () => now },
    async (token): Promise<Outcome<{ expiresAt: number; token: string }, { reason: 'bad' }>> => {
      looked.set(token, (looked.get(token) ?? 0) + 1);
      return token.startsWith('good') ? granted({ token, expiresAt: 1000 }) : refused({ reason: 'bad' });
    },
  );
  return {
    read,
    looked: (token: string) => looked.get(token),
    passTo: (time: number) => {
      now = time;
    },
  };
}

describe('tokens that were verified', () => {
  it('are looked at once while they are in use, however many are', async () => {
    const { read, looked } = reader();
    const tokens = Array.from({ length: 200 }, (_, index) => `good-${index}`);
    for (let round = 0; round < 5; round += 1) {
      for (const token of tokens) expect(await read(token)).toEqual(granted({ token, expiresAt: 1000 }));
    }
    expect(tokens.map(looked)).toEqual(tokens.map(() => 1));
  });

  it('are looked at again when they have ended', async () => {
    const { read, looked, passTo } = reader();
    await read('good');
    passTo(999);
    await read('good');
    expect(looked('good')).toBe(1);
    passTo(1000);
    await read('good');
    expect(looked('good')).toBe(2);
  });

  it('are never those that were refused', async () => {
    const { read, looked } = reader();
    await read('other');
    expect(await read('other')).toEqual(refused({ reason: 'bad' }));
    expect(looked('other')).toBe(2);
  });

  it('take bounded room: the first makes way for what comes', async () => {
    const { read, looked } = reader();
    for (let index = 0; index <= 4_000; index += 1) await read(`good-${index}`);
    await read('good-4000');
    expect(looked('good-4000')).toBe(1);
    await read('good-0');
    expect(looked('good-0')).toBe(2);
  });
});
