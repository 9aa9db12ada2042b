import type { Role } from '@patchbay/contract/roles';
import { describe, expect, it } from 'vitest';
import {
  mayChangeAgent,
  mayDecide,
  mayMakeKeyFor,
  mayMakeKeys,
  maySeePause,
  mayUseAgent,
  mayUseConversation,
  scopeOf,
} from './access.ts';
import type { Principal } from './principal.ts';

const person = (id: string, ...roles: Role[]): Principal => ({
  id,
  roles: new Set(roles),
  via: 'user-key',
  credential: `key of ${id}`,
  agents: { kind: 'own' },
});
const ann = person('ann', 'patchbay-editor');
const bob = person('bob', 'patchbay-editor', 'patchbay-approver');
const admin = person('root', 'patchbay-admin');
const helloKey: Principal = {
  ...person('key:1'),
  via: 'agent-key',
  agents: { kind: 'one', agentId: 'hello' },
};
const hello = { id: 'hello', ownerId: 'ann' };
const conversation = { userId: 'ann' };

describe('access', () => {
  it.each([
    ['its owner', ann, true, true],
    ['another person', bob, false, false],
    ['an admin', admin, false, true],
    ['a key for it', helloKey, true, true],
  ])('to use an agent is given to %s', (_, principal, own, ownOrAdmin) => {
    expect(mayUseAgent(principal, 'own', hello)).toBe(own);
    expect(mayUseAgent(principal, 'own-or-admin', hello)).toBe(ownOrAdmin);
  });

  it('to use an agent is refused to a key for another, whoever owns both', () => {
    const other = { id: 'other', ownerId: helloKey.id };
    expect(mayUseAgent(helloKey, 'own-or-admin', other)).toBe(false);
  });

  it('to change an agent is given to its owner and to admins, to no key for it', () => {
    expect([ann, admin, bob, helloKey].map(principal => mayChangeAgent(principal, hello))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it('to make keys is given to a person, to no key, and for an agent to its owner only', () => {
    const atTheMachine: Principal = { ...ann, via: 'cli' };
    expect([atTheMachine, ann, admin, helloKey].map(mayMakeKeys)).toEqual([true, false, false, false]);
    expect([atTheMachine, bob, admin, helloKey].map(principal => mayMakeKeyFor(principal, hello))).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  it('to a conversation is given to whoever began it, and to admins where they may', () => {
    const who = [ann, admin, bob, helloKey];
    expect(who.map(principal => mayUseConversation(principal, 'own', conversation))).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect(who.map(principal => mayUseConversation(principal, 'own-or-admin', conversation))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it('to what waits for a person is given to its owner, admins and approvers, and to decide it to no agent of theirs (attack 29)', () => {
    const who = [ann, admin, bob, helloKey, person('eve', 'patchbay-editor')];
    const byAgents = who.map(principal => ({ ...principal, byAgent: true }));
    const mayEach = [true, true, true, false, false];
    expect(who.map(principal => mayDecide(principal, conversation))).toEqual(mayEach);
    expect(byAgents.map(principal => maySeePause(principal, conversation))).toEqual(mayEach);
    expect(byAgents.some(principal => mayDecide(principal, conversation))).toBe(false);
  });

  it('in lists is to the own things, for an admin to all', () => {
    expect(scopeOf(ann)).toEqual({ kind: 'owned', ownerId: 'ann' });
    expect(scopeOf(admin)).toEqual({ kind: 'all' });
    expect(scopeOf(helloKey)).toEqual({ kind: 'owned', ownerId: 'key:1' });
  });
});
