import type { Clock } from '../kernel/clock.ts';
import type { Outcome } from '../kernel/result.ts';
import { createRowCache } from '../store/row-cache.ts';
import type { Store } from '../store/store.ts';
import { type DescribedAgent, findAgent } from '../store/tables/agents.ts';
import { findGrant } from '../store/tables/grants.ts';
import { findKeyByHash } from '../store/tables/keys.ts';
import { findPerson } from '../store/tables/users.ts';

export type Key = NonNullable<Awaited<ReturnType<typeof findKeyByHash>>>;
export type Grant = NonNullable<Awaited<ReturnType<typeof findGrant>>>;
export type Person = NonNullable<Awaited<ReturnType<typeof findPerson>>>;

/** Where a decision gets its rows: from memory, or from the tables. */
export interface Rows {
  key(hash: string): Key | undefined | Promise<Key | undefined>;
  grant(id: string): Grant | undefined | Promise<Grant | undefined>;
  person(id: string): Person | undefined | Promise<Person | undefined>;
  agent(id: string): DescribedAgent | undefined | Promise<DescribedAgent | undefined>;
}

/**
 * Decides by the rows that say who may come in. They are remembered, and dropped at once when news says that they changed, on whichever
 * node. Only a yes comes from memory. A no is always asked of the tables: what was granted a moment ago counts at once, and an agent
 * that is there takes a stranger as long as one that is not (attacks 23).
 */
export type Decide = <T, R extends { readonly reason: string }>(
  by: (rows: Rows) => Promise<Outcome<T, R>>,
) => Promise<Outcome<T, R>>;

export function createDecide({ store, clock }: { readonly store: Store; readonly clock: Clock }): Decide {
  const keys = createRowCache({ clock, store, load: hash => findKeyByHash(store.db, hash) });
  const grants = createRowCache({ clock, store, load: id => findGrant(store.db, id) });
  const people = createRowCache({ clock, store, load: id => findPerson(store.db, id) });
  const agents = createRowCache({ clock, store, load: id => findAgent(store.db, id) });
  const remembered: Rows = {
    ...{ key: keys.recall, grant: grants.recall, person: people.recall, agent: agents.recall },
  };
  const asked: Rows = { key: keys.read, grant: grants.read, person: people.read, agent: agents.read };

  store.subscribe(event => {
    switch (event.kind) {
      case 'key-changed':
        return keys.forget(key => key.id === event.keyId);
      case 'grant-changed':
        return grants.forget(grant => grant.id === event.grantId);
      case 'user-changed':
        keys.forget(key => key.userId === event.userId);
        return people.forget(person => person.id === event.userId);
      case 'agent-changed':
        return agents.forget(agent => agent.id === event.agentId);
      case 'resync':
        for (const rows of [keys, grants, people, agents]) rows.forget(() => true);
    }
  });

  return async by => {
    const outcome = await by(remembered);
    return outcome.ok ? outcome : by(asked);
  };
}
