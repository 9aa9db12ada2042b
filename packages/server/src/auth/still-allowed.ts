import type { Role } from '@patchbay/contract/roles';
import { mayUseAgent } from '../kernel/access.ts';
import type { Principal } from '../kernel/principal.ts';
import type { Db, Store } from '../store/store.ts';
import { findAccount } from '../store/tables/accounts.ts';
import { findAgent } from '../store/tables/agents.ts';
import { findGrant } from '../store/tables/grants.ts';
import { findKey } from '../store/tables/keys.ts';

/** Somebody who was let in, and the agent whose door it was. */
export interface LetIn {
  readonly principal: Principal;
  readonly agentId?: string | undefined;
}

/**
 * Would they still be let in? Asks the tables: is the credential not taken back, is the person not disabled and has every role they came
 * with, and may they still use the agent? A credential that has only expired since does not end what it began.
 */
export type StillAllowed = (letIn: LetIn) => Promise<boolean>;

export function createStillAllowed({ store: { db } }: { readonly store: Pick<Store, 'db'> }): StillAllowed {
  return async ({ principal, agentId }) => {
    if (principal.via === 'anonymous') return true;
    const person = await personBehind(db, principal);
    if (!person) return false;
    if (agentId === undefined) return hasRolesOf(person.roles, principal);
    const agent = await findAgent(db, agentId);
    if (!agent?.mcpEnabled) return false;
    // An agent key opens what the person it was made for may use.
    const agents = principal.agents.kind === 'one' ? ({ kind: 'own' } as const) : principal.agents;
    return mayUseAgent({ ...principal, id: person.id, roles: new Set(person.roles), agents }, 'own', agent);
  };
}

interface Person {
  readonly id: string;
  readonly roles: readonly Role[];
}

/** Whose credential it is, as they are now; `undefined` where nothing is left of one of the two. */
async function personBehind(db: Db, { id, roles, credential }: Principal): Promise<Person | undefined> {
  const [kind, grantId = ''] = credential.split(':');
  if (kind === 'grant') {
    const grant = await findGrant(db, grantId);
    return grant && grant.revokedAt === undefined ? accountOf(db, grant.userId) : undefined;
  }
  if (credential.startsWith('key_')) {
    const key = await findKey(db, credential);
    return key && key.revokedAt === undefined ? accountOf(db, key.userId) : undefined;
  }
  const person = await accountOf(db, id);
  // A realm says itself which roles its people have.
  return person && kind === 'realm' ? { ...person, roles: [...roles] } : person;
}

async function accountOf(db: Db, userId: string): Promise<Person | undefined> {
  const account = await findAccount(db, userId);
  return account?.disabled === true ? undefined : account;
}

/** An admin stands for the user that they are at the routes beside the agent door. */
function hasRolesOf(held: readonly Role[], { roles }: Principal): boolean {
  return [...roles].every(
    role => held.includes(role) || (role === 'patchbay-user' && held.includes('patchbay-admin')),
  );
}
