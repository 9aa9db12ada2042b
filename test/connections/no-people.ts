import type { KeptTools } from '../../packages/server/src/connections/server/kept-tools.ts';

/** For calls of servers that nobody reaches with a credential of their own. */
export const NO_PEOPLE = {
  kept: {
    of: () => undefined,
    read: async () => undefined,
    keep: async () => undefined,
    forget: () => undefined,
  } satisfies KeptTools,
  actsFor: async () => true,
  credentialsOf(): never {
    throw new Error('Nobody has a credential here');
  },
};
