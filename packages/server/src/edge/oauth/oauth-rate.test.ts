import { describe, expect, it } from 'vitest';
import { createOAuthRate } from './oauth-rate.ts';

describe('what anybody may ask the authorization server for in a minute', () => {
  it.each([
    ['register', 60],
    ['authorize', 120],
  ] as const)(
    '%s: somebody who asks without end keeps nobody else out (attack 12) (our own)',
    async (what, each) => {
      const rate = createOAuthRate();
      const admitted: boolean[] = [];
      for (let asked = 0; asked < 1_500; asked += 1) admitted.push(await rate.admits(what, '192.0.2.1'));
      expect(admitted.filter(Boolean)).toHaveLength(each);
      expect(await rate.admits(what, '192.0.2.2')).toBe(true);
    },
  );

  it('register: of very many addresses so many are let in together', async () => {
    const rate = createOAuthRate();
    let admitted = 0;
    for (let asked = 0; asked < 400; asked += 1)
      if (await rate.admits('register', `10.0.${asked >> 8}.${asked & 255}`)) admitted += 1;
    expect(admitted).toBe(300);
  });
});
