import type { Clock } from '../../kernel/clock.ts';
import { PlatformError } from '../../kernel/errors.ts';
import { newUserId } from '../../kernel/ids.ts';
import type { Store } from '../../store/store.ts';
import { type Account, findAccountBySubject, insertAccount } from '../../store/tables/accounts.ts';
import { insertUser } from '../../store/tables/users.ts';

/** Somebody as an OpenID provider names them. */
interface Subject {
  readonly issuer: string;
  readonly subject: string;
  /** To show; their own choice, so it identifies nobody. */
  readonly name: string;
}

const MAX_NAME_CHARS = 100;

/** One person for each subject of an issuer, made when they come for the first time, without a role of their own. They may be disabled. */
export async function personOfSubject(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  known: Subject,
): Promise<Account> {
  const found = await findAccountBySubject(store.db, known);
  if (found) return found;
  const name = known.name.slice(0, MAX_NAME_CHARS) || known.subject.slice(0, MAX_NAME_CHARS);
  const id = newUserId();
  try {
    await store.commit(async db => {
      await insertUser(db, { id, name, roles: [], createdAt: clock.now() });
      if (!(await insertAccount(db, { userId: id, known }))) throw new AlreadyThere();
    });
  } catch (error) {
    // Another request of theirs was quicker, perhaps on another node.
    if (!(error instanceof AlreadyThere)) throw error;
  }
  const person = await findAccountBySubject(store.db, known);
  if (!person) throw new PlatformError('not_found', 'The person is gone.');
  return person;
}

class AlreadyThere extends Error {}
