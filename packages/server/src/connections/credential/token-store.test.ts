import { describe, expect, it } from 'vitest';
import { createMemoryTokenStore } from './token-store.ts';

describe('tokens in memory', () => {
  it('are changed by one at a time, also after one that failed', async () => {
    const store = createMemoryTokenStore();
    const order: string[] = [];
    let letGo = () => {};
    const first = store.exclusively(async () => {
      order.push('first begins');
      await new Promise<void>(resolve => {
        letGo = resolve;
      });
      order.push('first ends');
      throw new Error('no');
    });
    const second = store.exclusively(async () => order.push('second'));
    await Promise.resolve();
    letGo();
    await expect(first).rejects.toThrow('no');
    await second;
    expect(order).toEqual(['first begins', 'first ends', 'second']);
  });
});
