import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FakePlatform, startFakePlatform } from '../testing/fake-platform.ts';
import { createTestIo, type TestIo } from '../testing/test-io.ts';

const ANNA = {
  userId: `user_${'a'.repeat(20)}`,
  name: 'Anna',
  login: 'anna',
  roles: ['patchbay-editor'],
};
const LINK = `http://127.0.0.1:7070/sign-in/link/${'l'.repeat(43)}`;
const AT = Date.UTC(2026, 11, 1, 9, 30);
const link = { link: LINK, linkExpiresOn: AT };

let platform: FakePlatform;
let io: TestIo;

beforeAll(async () => {
  platform = await startFakePlatform();
  Object.assign(platform.handlers, {
    create_user: (args: Record<string, unknown>) => ({ ...ANNA, ...(args.password === undefined && link) }),
    list_users: ({ login }: Record<string, unknown>) => {
      const everybody = [{ ...ANNA, hasPassword: true, disabled: false, createdOn: AT }];
      const users = everybody.filter(user => login === undefined || user.login === login);
      return { count: users.length, users };
    },
    set_user_roles: ({ roles }: Record<string, unknown>) => ({ ...ANNA, roles }),
    reset_user_password: () => ({ ...ANNA, ...link }),
    disable_user: () => ({ ...ANNA, disabled: true }),
    enable_user: () => ({ ...ANNA, disabled: false }),
    create_sign_in_link: () => ({ userId: ANNA.userId, ...link }),
  });
});
afterAll(() => platform.stop());
beforeEach(() => {
  platform.calls.length = 0;
  io = createTestIo({ home: platform.home });
});

describe('users add', () => {
  it('prints the link alone on stdout, and takes roles by their short names', async () => {
    expect(await io.run('users', 'add', 'anna', '--name', 'Anna', '--role', 'editor,approver')).toBe(0);
    expect(io.out()).toBe(`${LINK}\n`);
    expect(io.err()).toContain('until 2026-12-01 09:30 UTC');
    expect(platform.calls).toMatchObject([
      {
        name: 'create_user',
        args: { login: 'anna', name: 'Anna', roles: ['patchbay-editor', 'patchbay-approver'] },
      },
    ]);
    expect(platform.calls[0]!.args).not.toHaveProperty('password');
  });

  it('reads a password from standard input, and never from the command line', async () => {
    io = createTestIo({ home: platform.home, stdin: Readable.from(['seven brown lanterns\n']) });
    expect(await io.run('users', 'add', 'anna', '--role', 'user', '--password')).toBe(0);
    expect(platform.calls[0]!.args.password).toBe('seven brown lanterns');
    expect(io.out()).toBe('Added anna as patchbay-editor.\n');
    platform.calls.length = 0;
    expect(await io.run('users', 'add', 'anna', '--role', 'user', '--password=typed')).toBe(2);
    expect(platform.calls).toEqual([]);
  });

  it.each([[['users', 'add', 'anna']], [['users', 'add', 'anna', '--role', 'king']]])(
    'calls nobody and exits 2 for %j',
    async words => {
      expect(await io.run(...words)).toBe(2);
      expect(platform.calls).toEqual([]);
    },
  );
});

describe('the other commands about people', () => {
  it('list everybody', async () => {
    expect(await io.run('users', 'list')).toBe(0);
    expect(io.out()).toMatch(
      /^ID +LOGIN +NAME +ROLES +SIGN-IN +ADDED\n.*anna +Anna +patchbay-editor +password/,
    );
  });

  it.each([
    [['roles', 'anna', '--role', 'viewer'], 'set_user_roles', /is now patchbay-viewer/],
    [['reset', 'ANNA'], 'reset_user_password', /^http/],
    [['reset', ANNA.userId, '--login', 'anna'], 'reset_user_password', /^http/],
    [['disable', 'anna'], 'disable_user', /shut out/],
    [['enable', ANNA.userId], 'enable_user', /may sign in again/],
  ])('users %j find the person by login or id', async (words, operation, said) => {
    expect(await io.run('users', ...words)).toBe(0);
    expect(platform.calls.at(-1)).toMatchObject({ name: operation, args: { userId: ANNA.userId } });
    expect(io.out()).toMatch(said);
  });

  it('say who is not there', async () => {
    expect(await io.run('users', 'reset', 'nobody')).toBe(1);
    expect(io.err()).toContain('Nobody signs in as nobody');
  });
});

describe('sign-in', () => {
  it('prints an address and nothing else', async () => {
    expect(await io.run('sign-in')).toBe(0);
    expect(io.out()).toBe(`${LINK}\n`);
  });
});
