import { engines, openTestStore } from '@patchbay/testing/stores';
import { describe, expect, it } from 'vitest';
import { createPasswords } from '../../packages/server/src/auth/user/passwords.ts';
import { personOfSubject } from '../../packages/server/src/auth/user/subjects.ts';
import { createUsers } from '../../packages/server/src/auth/user/users.ts';
import { systemClock } from '../../packages/server/src/kernel/clock.ts';

describe.each(engines)('people of an OpenID provider on %s', engine => {
  it('are one person for each subject of an issuer, however many requests come first, and nobody else by their name', async () => {
    await using store = await openTestStore(engine);
    const parts = { store, clock: systemClock };
    const users = createUsers({ ...parts, passwords: createPasswords() });
    const { owner } = await users.ensureOwner();
    const known = { issuer: 'https://realm.example', subject: '7', name: 'owner' };

    const people = await Promise.all(Array.from({ length: 8 }, () => personOfSubject(parts, known)));
    const [person] = people;
    expect(new Set(people.map(({ id }) => id)).size).toBe(1);
    expect(person).toMatchObject({ name: 'owner', roles: [], disabled: false });
    expect(person!.id).not.toBe(owner.id);
    expect((await personOfSubject(parts, { ...known, issuer: 'https://other.example' })).id).not.toBe(
      person!.id,
    );
    expect(await users.list({ limit: 10 })).toHaveLength(3);

    // Gets a login here, and stays the same person.
    await expect(users.resetPassword(person!.id)).rejects.toMatchObject({ kind: 'conflict' });
    await expect(users.resetPassword(person!.id, 'owner')).rejects.toMatchObject({ kind: 'conflict' });
    expect(await users.resetPassword(person!.id, 'anna')).toMatchObject({ id: person!.id, login: 'anna' });
    await expect(users.resetPassword(person!.id, 'other')).rejects.toMatchObject({ kind: 'conflict' });
    expect(await personOfSubject(parts, known)).toMatchObject({ id: person!.id, login: 'anna' });

    await users.disable(person!.id);
    expect(await personOfSubject(parts, known)).toMatchObject({ id: person!.id, disabled: true });
  });
});
