import { join } from 'node:path';
import { VAULT_KEY_FILE } from '../kernel/vault-key-file.ts';
import { examineConfiguration } from './configuration.ts';
import type { Contents } from './contents.ts';
import { examineDataFolder, type FolderUse } from './data-folder.ts';
import { examineDocs } from './docs.ts';
import { type Finding, findingsOf } from './finding.ts';
import { examinePostgresServer } from './postgres-server.ts';
import { examineRealm } from './realm.ts';
import { examineSqliteFile } from './sqlite-file.ts';
import { examineVault } from './vault.ts';

export type { AgentState, Contents, KeyState } from './contents.ts';
export type { FolderUse } from './data-folder.ts';
export type { Finding, Remark, Verdict } from './finding.ts';

/** Where to look: what a platform that is started here would be given. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly cwd: string;
  readonly osPlatform: NodeJS.Platform;
  /** Epoch ms. */
  readonly now: () => number;
}

/** An installation as it is found, whether its platform runs or not. */
export interface Installation {
  readonly findings: readonly Finding[];
  /** What its settings say; `undefined` while they are refused, and nothing below is known then either. */
  readonly settings?: {
    readonly dataDir: string;
    readonly host: string;
    /** 0 takes a free one. */
    readonly port: number;
    readonly publicUrl: string | undefined;
    readonly operatorPath: string;
  };
  readonly folder?: FolderUse;
  /** `undefined` when the database cannot be read, or holds nothing yet. */
  readonly contents?: Contents | undefined;
}

/**
 * Looks at everything an installation is made of and changes none of it: nothing is made, migrated or written, and no lock is
 * held. What is wrong is a finding, never an error.
 */
export async function examineInstallation(surroundings: Surroundings): Promise<Installation> {
  const configuration = await examineConfiguration(surroundings);
  const findings = findingsOf('configuration', configuration.remarks);
  if (!configuration.loaded) return { findings };
  const { config, secrets } = configuration.loaded;
  const { dataDir } = config;
  const folder = await examineDataFolder(dataDir, surroundings.osPlatform);
  const { now } = surroundings;
  const database =
    secrets.databaseUrl === undefined
      ? await examineSqliteFile(join(dataDir, 'patchbay.db'), now)
      : await examinePostgresServer(secrets.databaseUrl, now);
  findings.push(
    ...findingsOf('data folder', folder.remarks),
    ...findingsOf('database', database.remarks),
    ...findingsOf('clock', database.clock),
    ...findingsOf(
      'vault',
      await examineVault(
        {
          key: secrets.vaultKey,
          previousKey: secrets.previousVaultKey,
          file: secrets.databaseUrl === undefined ? join(dataDir, VAULT_KEY_FILE) : undefined,
        },
        database.contents?.vaultKeyIds,
      ),
    ),
    ...findingsOf('realm', await examineRealm(config.oidc)),
    ...findingsOf('docs', await examineDocs(config.docs, surroundings.env)),
  );
  return {
    findings,
    settings: {
      dataDir,
      host: config.host,
      port: config.port,
      publicUrl: config.publicUrl,
      operatorPath: config.operatorDoor.path,
    },
    folder: folder.use,
    contents: database.contents,
  };
}
