import { describe, expect, it } from 'vitest';
import { createSignInRate } from './sign-in-rate.ts';

describe('tries to sign in', () => {
  async function admitted(tries: readonly { address: string | undefined; login: string }[]): Promise<number> {
    const rate = createSignInRate();
    const answers = [];
    for (const tried of tries) answers.push(await rate.admits(tried));
    return answers.filter(Boolean).length;
  }
  const from = (address: (at: number) => string | undefined, login: (at: number) => string, count = 100) =>
    admitted(Array.from({ length: count }, (_, at) => ({ address: address(at), login: login(at) })));

  it('are sixty a minute from one address', async () => {
    expect(
      await from(
        () => '203.0.113.7',
        at => `name${at}`,
      ),
    ).toBe(60);
    expect(
      await from(
        () => undefined,
        at => `name${at}`,
      ),
    ).toBe(60);
    expect(
      await from(
        at => `203.0.113.${at}`,
        at => `name${at}`,
      ),
    ).toBe(100);
    expect(
      await from(
        at => `::ffff:203.0.113.${at}`,
        at => `name${at}`,
      ),
    ).toBe(100);
  });

  it('are counted for the network of an address of IPv6, of which a customer has the other half', async () => {
    expect(
      await from(
        at => `2001:db8:1:2::${at}`,
        at => `name${at}`,
      ),
    ).toBe(60);
    expect(
      await from(
        at => `2001:db8:1:2:${at}:0:0:1`,
        at => `name${at}`,
      ),
    ).toBe(60);
    expect(
      await from(
        at => `2001:db8:1:${at}::1`,
        at => `name${at}`,
      ),
    ).toBe(100);
    expect(
      await from(
        at => `2001:db8::${at}`,
        at => `name${at}`,
      ),
    ).toBe(60);
  });

  it('are ten a minute for one name, wherever they come from and however long it is', async () => {
    const long = 'n'.repeat(100_000);
    expect(
      await from(
        at => `203.0.113.${at}`,
        () => long,
      ),
    ).toBe(10);
    expect(
      await from(
        at => `203.0.113.${at}`,
        () => '',
      ),
    ).toBe(10);
  });
});
