import type { CredentialsProvider } from '../../connections/credential/credentials-provider.ts';
import type { HeardEvent } from '../../kernel/events.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Store } from '../../store/store.ts';
import { listOpenSignIns, type Pause } from '../../store/tables/pauses.ts';
import type { Pauses } from './pauses.ts';
import { type HasArrived, serversIn } from './sign-in.ts';

/** Turns that wait for their person to sign in, and the credentials that arrive. */
export interface SignIns {
  /** Has the turn go on if its person has signed in wherever it waits for that. True when they have. */
  look(pause: Pause): Promise<boolean>;
  /** The same for all there are, as news may be lost, or nobody was there to hear it (W-76). */
  lookAtAll(): Promise<void>;
}

/** Told by whom has people's credentials: of an instance, whose servers are called `<instance>/<name>`. */
export function createHasArrived(
  credentialsOf: (instance: string) => Pick<CredentialsProvider, 'find'>,
): HasArrived {
  return async ({ server, credential, given }, userId) => {
    const now = await credentialsOf(server.slice(0, server.indexOf('/'))).find(credential, userId);
    return now !== undefined && now.given !== given;
  };
}

/** A page of those that wait. */
const PAGE = 200;

export function createSignIns(deps: {
  readonly store: Store;
  readonly pauses: Pick<Pauses, 'signedIn'>;
  readonly hasArrived: HasArrived;
  readonly logger?: Logger | undefined;
}): SignIns {
  const { store, pauses, hasArrived, logger } = deps;

  const look: SignIns['look'] = async pause => {
    for (const server of serversIn(pause)) {
      if (!(await hasArrived(server, pause.userId))) return false;
    }
    await pauses.signedIn(pause.id);
    return true;
  };

  async function lookAtThose(userId: string | undefined, concerns: (pause: Pause) => boolean): Promise<void> {
    let after: Pick<Pause, 'openedAt' | 'id'> = { openedAt: 0, id: '' };
    for (;;) {
      const page = await listOpenSignIns(store.db, { userId, after, limit: PAGE });
      for (const pause of page.filter(concerns)) await look(pause);
      if (page.length < PAGE) return;
      after = page.at(-1)!;
    }
  }

  function hear(event: HeardEvent, origin: 'here' | 'elsewhere'): void {
    // Whoever else heard it would only be late.
    if (event.kind !== 'credential-changed' || origin !== 'here') return;
    const { userId, name } = event;
    const isAbout = (pause: Pause) => serversIn(pause).some(({ credential }) => credential === name);
    void lookAtThose(userId, isAbout).catch(error =>
      logger?.warn('Turns that wait for a sign-in will go on a little later', { error }),
    );
  }

  store.subscribe(hear);
  return { look, lookAtAll: () => lookAtThose(undefined, () => true) };
}
