import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@patchbay/contract/client';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { afterEach, beforeEach } from 'vitest';

/** A platform with a configuration file, in a data folder of each test's own. */
export interface ConfiguredPlatform {
  /** The one that was started last. */
  readonly platform: TestPlatform;
  readonly client: Client;
  start(): Promise<TestPlatform>;
  /** Puts a configuration file in place, all of it at once. */
  write(content: unknown, name?: string): Promise<void>;
}

/** For the tests of the file that calls it: what they start is ended with each of them. */
export function configuredPlatform(): ConfiguredPlatform {
  let folder: string;
  let platform: TestPlatform | undefined;
  let client: Client;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'patchbay-configured-'));
  });
  afterEach(async () => {
    await platform?.close();
    platform = undefined;
    await rm(folder, { recursive: true });
  });
  return {
    get platform() {
      return platform!;
    },
    get client() {
      return client;
    },
    async start() {
      platform = await startTestPlatform({
        dataDir: folder,
        env: { PATCHBAY_EGRESS_PRIVATE_HOSTS: '127.0.0.1' },
      });
      client = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
      return platform;
    },
    async write(content, name = 'patchbay.config.json') {
      const text = typeof content === 'string' ? content : JSON.stringify(content);
      await writeFile(join(folder, 'draft'), text);
      await rename(join(folder, 'draft'), join(folder, name));
    },
  };
}
