/** Variables that are set for configuration to read. */
export const OPEN_PREFIX = 'PATCHBAY_REF_';

/** How the platform itself is told what nobody may read. */
const NEVER = /^(?:PATCHBAY_|DATABASE_URL$)/;

/**
 * May configuration refer to this variable of the environment? Those with the prefix, and those the operator allows, whole or with
 * `*` at the end; never the platform's own.
 */
export function mayReadVariable(name: string, allowed: readonly string[]): boolean {
  if (name.startsWith(OPEN_PREFIX)) return true;
  if (NEVER.test(name)) return false;
  return allowed.some(pattern =>
    pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
  );
}
