import type { Role } from '@patchbay/contract/roles';
import { describe, expect, it } from 'vitest';
import {
  agentScopeOf,
  mayActAsCaller,
  mayChangeAgent,
  mayDecide,
  mayLetPeopleIn,
  mayMakeKeyFor,
  mayMakeKeys,
  mayReadConfiguration,
  maySeePause,
  mayShareAgent,
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
const hello = { id: 'hello', ownerId: 'ann', sharedWith: [] as readonly string[] };
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
    const other = { id: 'other', ownerId: helloKey.id, sharedWith: ['everyone'] };
    expect(mayUseAgent(helloKey, 'own-or-admin', other)).toBe(false);
  });

  it.each([
    ['everyone', [true, true, false]],
    ['user:bob', [true, false, false]],
    ['role:patchbay-editor', [true, false, false]],
    ['role:patchbay-viewer', [false, true, false]],
    ['user:root', [false, false, false]],
    ['user:bo', [false, false, false]],
  ] as const)(
    'to use an agent that is shared with %s is given to those, and to no key for another agent',
    (grantee, may) => {
      const shared = { ...hello, sharedWith: ['user:somebody', grantee] };
      const eve = person('eve', 'patchbay-viewer');
      const who = [bob, eve].map(principal => ({ ...principal, agents: { kind: 'shared' } as const }));
      const otherKey: Principal = { ...helloKey, agents: { kind: 'one', agentId: 'other' } };
      expect([...who, otherKey].map(principal => mayUseAgent(principal, 'own', shared))).toEqual(may);
      // A credential that opens owned agents only opens none that are shared.
      expect([bob, eve].map(principal => mayUseAgent(principal, 'own', shared))).toEqual([false, false]);
      // Sharing gives the use of an agent and nothing else of it.
      const uses = [mayChangeAgent, mayReadConfiguration, mayShareAgent, mayMakeKeyFor];
      expect(who.flatMap(principal => uses.map(may => may(principal, shared)))).not.toContain(true);
    },
  );

  it('to use an agent that was chosen is given as far as its person may use it', () => {
    const agents = { kind: 'granted', agentIds: new Set(['hello']) } as const;
    const chosen = [ann, bob].map(principal => ({ ...principal, agents }));
    const may = (agent: typeof hello) => chosen.map(principal => mayUseAgent(principal, 'own', agent));
    expect(may(hello)).toEqual([true, false]);
    expect(may({ ...hello, sharedWith: ['user:bob'] })).toEqual([true, true]);
    expect(may({ ...hello, id: 'other', sharedWith: ['everyone'] })).toEqual([false, false]);
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
    const inABrowser: Principal = { ...ann, via: 'session' };
    const byAgent = { ...atTheMachine, byAgent: true };
    const makers = [atTheMachine, inABrowser, byAgent, ann, admin, helloKey];
    expect(makers.map(mayMakeKeys)).toEqual([true, true, false, false, false, false]);
    // The same for letting people in, which takes an admin besides.
    const asAdmin = makers.map(maker => ({ ...maker, roles: admin.roles }));
    expect(makers.map(mayLetPeopleIn)).not.toContain(true);
    expect(asAdmin.map(mayLetPeopleIn)).toEqual([true, true, false, false, false, false]);
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

  it('in lists of agents to talk to is also to those that are shared, where the credential opens them', () => {
    const shared = { kind: 'shared' } as const;
    expect(agentScopeOf({ ...bob, agents: shared })).toEqual({
      kind: 'usable',
      ownerId: 'bob',
      grantees: ['everyone', 'user:bob', 'role:patchbay-editor', 'role:patchbay-approver'],
    });
    expect(agentScopeOf(bob)).toEqual({ kind: 'owned', ownerId: 'bob' });
    expect(agentScopeOf({ ...admin, agents: shared })).toEqual({ kind: 'all' });
  });

  it('in lists is to the own things, for an admin to all', () => {
    expect(scopeOf(ann)).toEqual({ kind: 'owned', ownerId: 'ann' });
    expect(scopeOf(admin)).toEqual({ kind: 'all' });
    expect(scopeOf(helloKey)).toEqual({ kind: 'owned', ownerId: 'key:1' });
  });
});

describe('an agent that acts as whoever talks to it', () => {
  it.each([
    ['ann', [], true],
    ['bob', ['patchbay-admin'], true],
    ['bob', ['patchbay-editor', 'patchbay-approver'], false],
    ['bob', [], false],
  ] as const)('is of %s with the roles %j: %s', (id, roles, may) => {
    expect(mayActAsCaller('ann', { id, roles })).toBe(may);
  });
});
