import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Brings a folder's own node_modules up to its lockfile: `npm ci` when they are missing or older, nothing otherwise. Install
 * scripts do not run; nothing pinned here needs one. Rejects with npm's output when npm fails.
 */
export async function installPinned(folder: string): Promise<void> {
  const installed = changedAt(join(folder, 'node_modules', '.package-lock.json'));
  if (installed !== undefined && installed >= changedAt(join(folder, 'package-lock.json'))!) return;
  const npm = spawn('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [npm.stdout, npm.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    npm.on('error', reject);
    npm.on('close', resolve);
  });
  if (exitCode !== 0) throw new Error(`npm ci in ${folder} ended with ${exitCode}:\n${output}`);
}

function changedAt(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs;
}
