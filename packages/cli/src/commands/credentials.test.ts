import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../testing/eventually.ts';
import { type FakePlatform, startFakePlatform } from '../testing/fake-platform.ts';
import { createTestIo, type TestIo } from '../testing/test-io.ts';

let platform: FakePlatform;
let io: TestIo;
beforeAll(async () => {
  platform = await startFakePlatform();
  const day = Date.UTC(2026, 10, 30);
  Object.assign(platform.handlers, {
    list_credentials: () => ({
      count: 2,
      credentials: [
        { name: 'linear', servers: ['default/linear', 'sales/linear'], givenOn: day, changedOn: day },
        { name: 'notes', servers: ['default/notes'] },
      ],
    }),
    put_credential: ({ name }: { name: string }) => ({
      ...{ name, givenOn: day, changedOn: day, created: true },
      servers: name === 'linear' ? ['default/linear'] : [],
    }),
    delete_credential: ({ name }: { name: string }) => ({ name, deleted: true }),
  });
});
afterAll(() => platform.stop());
beforeEach(() => {
  platform.calls.length = 0;
  io = createTestIo({ home: platform.home });
});

describe('patchbay credentials', () => {
  it('lists what servers want of a person, and what they have given', async () => {
    expect(await io.run('credentials', 'list')).toBe(0);
    expect(io.out()).toMatch(/^NAME +SERVERS +GIVEN +CHANGED\n/);
    expect(io.out()).toMatch(/linear +default\/linear, sales\/linear +2026-11-30 +2026-11-30/);
    expect(io.out()).toMatch(/notes +default\/notes +no/);
  });

  it('takes one from standard input, and never from the command line (attack 49)', async () => {
    io.stdin.end('secret-token\n');
    expect(await io.run('credentials', 'set', 'linear')).toBe(0);
    expect(platform.calls.at(-1)).toMatchObject({
      name: 'put_credential',
      args: { name: 'linear', token: 'secret-token' },
    });
    expect(io.out()).toBe('Stored linear. It is used at default/linear, for what you ask of agents.\n');
    platform.calls.length = 0;
    io = createTestIo({ home: platform.home });
    expect(await io.run('credentials', 'set', 'linear', 'secret-token')).toBe(2);
    expect(platform.calls).toEqual([]);
  });

  it('asks for one, shows nothing of it, and says where no server wants it', async () => {
    io = createTestIo({ home: platform.home, terminal: true });
    const done = io.run('credentials', 'set', 'linaer');
    await eventually(() => expect(io.err()).toContain('Your credential linaer (not shown): '));
    io.stdin.write('typed secret\r');
    expect(await done).toBe(0);
    expect(platform.calls.at(-1)?.args).toMatchObject({ token: 'typed secret' });
    expect(io.out()).toContain('No server asks for it now');
    expect(io.out() + io.err()).not.toContain('typed');
  });

  it('takes one back', async () => {
    expect(await io.run('credentials', 'remove', 'linear')).toBe(0);
    expect(platform.calls.at(-1)).toMatchObject({ name: 'delete_credential', args: { name: 'linear' } });
    expect(io.out()).toContain('Removed linear.');
  });
});
