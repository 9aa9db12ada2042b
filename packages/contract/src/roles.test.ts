import { describe, expect, it } from 'vitest';
import { opensTier, ROLES, type Role } from './roles.ts';

describe('a tier', () => {
  it.each<[Parameters<typeof opensTier>[0], readonly Role[]]>([
    ['docs', ROLES],
    ['converse', ['patchbay-admin', 'patchbay-editor', 'patchbay-user', 'patchbay-viewer']],
    ['observe', ['patchbay-admin', 'patchbay-viewer']],
    ['author', ['patchbay-admin', 'patchbay-editor']],
    ['admin', ['patchbay-admin']],
    ['hitl', ROLES],
  ])('opens %s to its own roles and no other (E-55, E-59)', (tier, roles) => {
    expect(ROLES.filter(role => opensTier(tier, new Set([role])))).toEqual(roles);
  });

  it('asks for a role, except where each conversation decides', () => {
    const none = new Set<Role>();
    expect(opensTier('docs', none)).toBe(false);
    expect(opensTier('account', none)).toBe(false);
    expect(opensTier('hitl', none)).toBe(true);
  });
});
