import type { Logger } from '../../kernel/logger.ts';
import type { Store } from '../../store/store.ts';
import type { Owner, Pool } from '../session/pool.ts';
import type { PersonalCredentials } from './personal-credentials.ts';

/** Closes connections of people whose credential is another by now, or gone (W-77, attack 20); after news that may have been missed it looks at none and closes all. */
export function retireChangedConnections(deps: {
  readonly store: Pick<Store, 'subscribe'>;
  readonly pool: Pick<Pool, 'retireOf'>;
  readonly credentials: Pick<PersonalCredentials, 'list'>;
  readonly logger: Logger;
}): Disposable {
  const { store, pool, credentials, logger } = deps;

  async function retireOthers(userId: string, name: string): Promise<void> {
    const isMeant = ({ credential }: Owner) => credential?.userId === userId && credential.name === name;
    try {
      const now = (await credentials.list(userId)).find(record => record.name === name);
      await pool.retireOf(owner => isMeant(owner) && owner.credential!.given !== now?.given);
    } catch (error) {
      logger.warn('It cannot be read which credential a person has now', { error });
      await pool.retireOf(isMeant);
    }
  }

  const stop = store.subscribe(event => {
    if (event.kind === 'resync') void pool.retireOf(({ credential }) => credential !== undefined);
    if (event.kind === 'credential-changed') void retireOthers(event.userId, event.name);
  });
  return { [Symbol.dispose]: stop };
}
