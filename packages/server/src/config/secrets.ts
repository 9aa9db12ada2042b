import { mayReadVariable } from '../kernel/reference-environment.ts';
import { parseVaultKey, type VaultKey } from '../kernel/vault-key.ts';
import type { Settings } from './settings.ts';

/** What the platform needs to start and nobody may read: kept apart, so that the configuration can be shown and logged. */
export interface Secrets {
  /** With its password; `undefined` for the embedded store. */
  readonly databaseUrl: string | undefined;
  readonly vaultKey: VaultKey | undefined;
  readonly previousVaultKey: VaultKey | undefined;
  /** Of this platform as a client of the OpenID realm. */
  readonly oidcClientSecret: string | undefined;
  /** Variables of the environment that configuration may refer to. */
  readonly environment: ReadonlyMap<string, string>;
}

export function secretsOf(settings: Settings, env: Readonly<Record<string, string | undefined>>): Secrets {
  const { databaseUrl, vault, references, oidc } = settings;
  return {
    databaseUrl,
    vaultKey: vault.key === undefined ? undefined : parseVaultKey(vault.key),
    previousVaultKey: vault.previousKey === undefined ? undefined : parseVaultKey(vault.previousKey),
    oidcClientSecret: oidc.clientSecret,
    environment: new Map(
      Object.entries(env).flatMap(([name, value]) =>
        value !== undefined && mayReadVariable(name, references.environment) ? [[name, value]] : [],
      ),
    ),
  };
}

/** Which database it is, without password and parameters. */
export function databaseAddress(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.password = '';
  url.search = '';
  url.hash = '';
  return url.href;
}
