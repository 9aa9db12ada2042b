import { randomBytes } from 'node:crypto';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@patchbay/contract/client';
import { examineInstallation } from '@patchbay/server/doctor';
import { startTestPlatform } from '@patchbay/testing/platform';
import { engines, newTestDatabase } from '@patchbay/testing/stores';
import { describe, expect, it } from 'vitest';

const newKey = () => randomBytes(32).toString('base64');

describe.each(engines)('the doctor of an installation on %s', engine => {
  async function setUp() {
    await using undo = new AsyncDisposableStack();
    const dataDir = await mkdtemp(join(tmpdir(), 'patchbay-doctor-'));
    undo.defer(() => rm(dataDir, { recursive: true }));
    const databaseUrl = engine === 'postgres' ? undo.use(await newTestDatabase()).url : undefined;
    const held = undo.move();
    return {
      file: join(dataDir, 'vault-key'),
      async [Symbol.asyncDispose]() {
        await held.disposeAsync();
      },
      /** Runs a platform with these settings, and stores a secret if asked to. */
      async run(env: Record<string, string>, secret?: string) {
        const platform = await startTestPlatform({ dataDir, env, ...(databaseUrl && { databaseUrl }) });
        const client = createClient({ baseUrl: platform.url, token: platform.ownerToken, fetch });
        if (secret) await client.call('put_secret', { name: secret, value: 'not a real key' });
        await platform.close();
      },
      async says(env: Record<string, string> = {}) {
        const { findings } = await examineInstallation({
          env: {
            PATCHBAY_DATA_DIR: dataDir,
            ...(databaseUrl && { PATCHBAY_DATABASE_URL: databaseUrl }),
            ...env,
          },
          home: dataDir,
          cwd: dataDir,
          osPlatform: 'linux',
          now: Date.now,
        });
        const found = findings.filter(({ check }) => check === 'vault');
        return found.map(({ verdict, says }) => `${verdict}: ${says}`).join('\n');
      },
    };
  }

  it('says whether the vault key fits the secrets', async () => {
    await using installation = await setUp();
    const { run, says } = installation;
    const [key, fresh] = [newKey(), newKey()];
    await run({ PATCHBAY_VAULT_KEY: key });
    expect(await says({ PATCHBAY_VAULT_KEY: key })).toBe(
      'ok: There is a vault key; no secret is stored yet.',
    );
    await run({ PATCHBAY_VAULT_KEY: key }, 'one');
    expect(await says({ PATCHBAY_VAULT_KEY: key })).toBe(
      'ok: The vault key fits the secrets in the database.',
    );
    expect(await says()).toMatch(
      /^problem: Secrets are stored but the vault key is not here, .*PATCHBAY_VAULT_KEY/,
    );
    expect(await says({ PATCHBAY_VAULT_KEY: fresh })).toMatch(
      /^problem: The vault key does not fit .*PREVIOUS_KEY/,
    );

    const both = { PATCHBAY_VAULT_KEY: fresh, PATCHBAY_VAULT_PREVIOUS_KEY: key };
    expect(await says(both)).toMatch(/^warning: .*the next start takes them over/);
    await run(both);
    expect(await says({ PATCHBAY_VAULT_KEY: fresh })).toMatch(/^ok: The vault key fits/);
  });

  it.runIf(engine === 'postgres')('says that the vault is off', async () => {
    await using installation = await setUp();
    await installation.run({});
    expect(await installation.says()).toMatch(
      /^ok: The vault is off, .*PATCHBAY_VAULT_KEY switches it on\.$/,
    );
  });

  it.runIf(engine === 'sqlite')('says whether the file with the vault key is there and whole', async () => {
    await using installation = await setUp();
    const { run, says, file } = installation;
    await run({});
    expect(await says()).toBe('ok: The vault key is made when the first secret is stored.');
    await run({}, 'one');
    expect(await says()).toBe('ok: The vault key fits the secrets in the database.');
    await rename(file, `${file}.lost`);
    expect(await says()).toMatch(
      /^problem: Secrets are stored but the vault key is not here, .*put .*vault-key back/,
    );
    await writeFile(file, 'changeme');
    expect(await says()).toMatch(/^problem: .* holds no vault key: put the file back/);
    await writeFile(file, newKey());
    expect(await says()).toMatch(/^problem: The vault key does not fit/);
    await rename(`${file}.lost`, file);
    expect(await says()).toMatch(/^ok/);
  });
});
