import { describe, expect, it } from 'vitest';
import { createPasswords, type DeriveKey } from './passwords.ts';

describe('passwords', () => {
  it('are hashed with their parameters and a salt of their own, and fit however their letters are typed', async () => {
    const passwords = createPasswords();
    const stored = await passwords.hash('lámpás éjszaka');
    expect(stored).toMatch(/^scrypt\$15\$8\$3\$[\w-]{22}\$[\w-]{43}$/);
    expect(await passwords.verify('lámpás éjszaka'.normalize('NFD'), stored)).toBe(true);
    expect(await passwords.verify('lámpás éjszak', stored)).toBe(false);
    expect(await passwords.verify('lámpás éjszaka', undefined)).toBe(false);
    expect(await passwords.hash('lámpás éjszaka')).not.toBe(stored);
  });

  it('are looked at with the parameters they were stored with', async () => {
    const asked: unknown[] = [];
    const passwords = createPasswords(async (_password, _salt, bytes, options) => {
      asked.push(options);
      return Buffer.alloc(bytes);
    });
    await passwords.verify('x', `scrypt$14$8$5$c2FsdA$${Buffer.alloc(32).toString('base64url')}`);
    expect(asked).toMatchObject([{ N: 2 ** 14, r: 8, p: 5 }]);
  });

  it('are computed two at a time; who comes when a hundred wait is told to come back', async () => {
    let running = 0;
    let most = 0;
    const ends: (() => void)[] = [];
    const derive: DeriveKey = async (_password, _salt, bytes) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise<void>(resolve => ends.push(resolve));
      running -= 1;
      return Buffer.alloc(bytes);
    };
    const passwords = createPasswords(derive);
    const waiting = Array.from({ length: 102 }, () => passwords.verify('x', undefined));
    await expect(passwords.verify('x', undefined)).rejects.toMatchObject({ kind: 'unavailable' });
    for (let ended = 0; ended < 102; ended += 1) {
      while (ends.length === 0) await new Promise(resolve => setImmediate(resolve));
      ends.shift()!();
    }
    expect(new Set(await Promise.all(waiting))).toEqual(new Set([false]));
    expect(most).toBe(2);
    const after = passwords.verify('x', undefined);
    while (ends.length === 0) await new Promise(resolve => setImmediate(resolve));
    ends.shift()!();
    expect(await after).toBe(false);
  });
});
