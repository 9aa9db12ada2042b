/** The five roles (E-54). Literal strings without a hierarchy: every tier enumerates who may enter. */
export const ROLES = [
  'patchbay-admin',
  'patchbay-editor',
  'patchbay-user',
  'patchbay-approver',
  'patchbay-viewer',
] as const;

export type Role = (typeof ROLES)[number];

/** `eddi-` names of an existing realm are the same roles (decisions.md 1). Anything else is no role: `undefined`. */
export function parseRole(name: string): Role | undefined {
  const own = name.startsWith('eddi-') ? `patchbay-${name.slice('eddi-'.length)}` : name;
  return ROLES.find(role => role === own);
}

/**
 * Who may call an operation at all (E-55 to E-61). Ownership is checked inside the operation.
 * `account` is not in the seeds: a signed-in person's own keys, whatever the role. `hitl` asks for no role at all: each of its
 * operations decides by the conversation it is about (E-29).
 */
export const TIERS = {
  docs: ROLES,
  account: ROLES,
  converse: ['patchbay-admin', 'patchbay-editor', 'patchbay-user', 'patchbay-viewer'],
  observe: ['patchbay-admin', 'patchbay-viewer'],
  author: ['patchbay-admin', 'patchbay-editor'],
  admin: ['patchbay-admin'],
  hitl: ROLES,
} as const satisfies Record<string, readonly Role[]>;

export type Tier = keyof typeof TIERS;

/** Do these roles open the tier? */
export function opensTier(tier: Tier, roles: ReadonlySet<Role>): boolean {
  return tier === 'hitl' || TIERS[tier].some(role => roles.has(role));
}
