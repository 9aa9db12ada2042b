import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockDataFolder } from './data-folder-lock.ts';

let parent: string;
let folder: string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'patchbay-lock-'));
  folder = join(parent, 'data');
});
afterEach(() => rm(parent, { recursive: true, force: true }));

/** A process of its own that takes the lock and keeps it. */
async function startHolder(): Promise<{ kill(): Promise<void> }> {
  const module = fileURLToPath(new URL('data-folder-lock.ts', import.meta.url));
  const script = `
    import { lockDataFolder } from ${JSON.stringify(module)};
    globalThis.lock = await lockDataFolder(${JSON.stringify(folder)});
    console.log('locked');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`the holder ended with ${code}`))),
  ]);
  return {
    async kill() {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

describe('lockDataFolder', () => {
  it('makes the folder for its owner only', async () => {
    await using lock = await lockDataFolder(folder);
    expect(lock.folder).toBe(folder);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
  });

  it('refuses a second process in one sentence that names the folder, until the first is killed', async () => {
    const holder = await startHolder();
    await expect(lockDataFolder(folder)).rejects.toMatchObject({
      name: 'PlatformError',
      message: `Another Patchbay process works in the data folder ${folder}: stop it, or choose another folder with PATCHBAY_DATA_DIR.`,
    });
    await holder.kill();
    await using lock = await lockDataFolder(folder);
    expect(lock.folder).toBe(folder);
  });

  it('refuses this process too while it has the folder, and lets go when disposed', async () => {
    {
      await using _held = await lockDataFolder(folder);
      await expect(lockDataFolder(folder)).rejects.toThrow('Another Patchbay process works in');
    }
    await using again = await lockDataFolder(folder);
    expect(again.folder).toBe(folder);
  });

  it('says what is wrong with a folder that cannot be used', async () => {
    await writeFile(folder, 'a file, not a folder');
    await expect(lockDataFolder(folder)).rejects.toThrow(`The data folder ${folder} cannot be used`);
  });
});
