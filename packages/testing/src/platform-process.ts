import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Client, createClient } from '@patchbay/contract/client';

const COMMAND = fileURLToPath(new URL('../../cli/bin/patchbay.mjs', import.meta.url));
const START_TIMEOUT_MS = 30_000;

/** A platform in a process of its own, as `npm start` runs it: for what must survive its death or not share its memory. */
export interface PlatformProcess {
  readonly process: ChildProcess;
  readonly url: string;
  readonly operatorUrl: string;
  /** Acts as the local owner. */
  readonly client: Client;
}

/** Resolves when the platform answers; rejects with what it said when it does not start. */
export async function startPlatformProcess(options: {
  readonly dataDir: string;
  readonly databaseUrl?: string | undefined;
  readonly env?: Readonly<Record<string, string>>;
}): Promise<PlatformProcess> {
  const ownerFile = join(options.dataDir, 'local-owner');
  const before = await readFile(ownerFile, 'utf8').catch(() => '');
  const child = spawn(process.execPath, [COMMAND, 'up'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      HOME: options.dataDir,
      PATCHBAY_DATA_DIR: options.dataDir,
      PATCHBAY_PORT: '0',
      ...(options.databaseUrl && { PATCHBAY_DATABASE_URL: options.databaseUrl }),
      ...options.env,
    },
  });
  let said = '';
  child.stderr?.on('data', chunk => {
    said = (said + chunk).slice(-10_000);
  });
  for (const deadline = Date.now() + START_TIMEOUT_MS; ; ) {
    const written = await readFile(ownerFile, 'utf8').catch(() => '');
    if (written !== '' && written !== before) {
      const { url, operatorUrl, token } = JSON.parse(written) as Record<
        'url' | 'operatorUrl' | 'token',
        string
      >;
      return { process: child, url, operatorUrl, client: createClient({ baseUrl: url, token, fetch }) };
    }
    if (child.exitCode !== null || Date.now() > deadline)
      throw new Error(`The platform did not start: ${said}`);
    await new Promise(resolve => setTimeout(resolve, 20));
  }
}
