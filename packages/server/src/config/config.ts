import path from 'node:path';
import { databaseAddress } from './secrets.ts';
import type { Settings } from './settings.ts';

/** Everything the platform is told from outside, checked and complete. Holds no secret. */
export type Config = Omit<Settings, 'databaseUrl' | 'authOffOnNetwork' | 'docs' | 'vault' | 'oidc'> & {
  readonly docs: { readonly enabled: boolean; readonly path: string };
  readonly oidc: Omit<Settings['oidc'], 'clientSecret'>;
  readonly vault: Omit<Settings['vault'], 'key' | 'previousKey'>;
  readonly database: { readonly kind: 'sqlite' } | { readonly kind: 'postgres'; readonly address: string };
};

/** What relative values are relative to. */
export interface Surroundings {
  readonly cwd: string;
  readonly home: string;
  /** Patchbay's own pages. */
  readonly docsDir: string;
}

/** The configuration that settings mean at this place. */
export function toConfig(settings: Settings, { cwd, home, docsDir }: Surroundings): Config {
  const { databaseUrl, authOffOnNetwork: _said, ...rest } = settings;
  const { clientSecret: _secret, ...oidc } = settings.oidc;
  const folder = (value: string) =>
    path.resolve(cwd, value === '~' || value.startsWith('~/') ? path.join(home, value.slice(1)) : value);
  return {
    ...rest,
    dataDir: folder(settings.dataDir),
    oidc,
    vault: { grantEnforcement: settings.vault.grantEnforcement },
    docs: { ...settings.docs, path: settings.docs.path === undefined ? docsDir : folder(settings.docs.path) },
    database:
      databaseUrl === undefined
        ? { kind: 'sqlite' }
        : { kind: 'postgres', address: databaseAddress(databaseUrl) },
  };
}
