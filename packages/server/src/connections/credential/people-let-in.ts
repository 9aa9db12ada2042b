import type { Store } from '../../store/store.ts';
import { findAccount } from '../../store/tables/accounts.ts';
import { SessionError } from '../session/failure.ts';
import type { CredentialsProvider } from './credentials-provider.ts';

/**
 * The same credentials, of people who are not shut out: a turn of theirs that waited or runs in the background may be gone on with later, by somebody
 * else. Rejects with a `SessionError` for all others.
 */
export function ofPeopleLetIn(provider: CredentialsProvider, { db }: Pick<Store, 'db'>): CredentialsProvider {
  async function requireLetIn(userId: string): Promise<void> {
    if ((await findAccount(db, userId))?.disabled !== true) return;
    throw new SessionError(
      'AUTHENTICATION_FAILED',
      'no',
      'the person whose conversation this is has been shut out, and their credential is used no more',
    );
  }
  return {
    async find(name, principalId) {
      await requireLetIn(principalId);
      return provider.find(name, principalId);
    },
    async refused(who, what) {
      await requireLetIn(who.principalId);
      return provider.refused(who, what);
    },
  };
}
