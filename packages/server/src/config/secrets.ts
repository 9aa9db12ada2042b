import type { Settings } from './settings.ts';

/** What the platform needs to start and nobody may read: kept apart, so that the configuration can be shown and logged. */
export interface Secrets {
  /** With its password; `undefined` for the embedded store. */
  readonly databaseUrl: string | undefined;
}

export function secretsOf(settings: Settings): Secrets {
  return { databaseUrl: settings.databaseUrl };
}

/** Which database it is, without password and parameters. */
export function databaseAddress(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.password = '';
  url.search = '';
  url.hash = '';
  return url.href;
}
