import { homedir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { EXIT } from './cli-error.ts';
import { run } from './run.ts';

// A reader that has seen enough (`npx patchbay call --list | head -1`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failed);
});

const exitCode = await run(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  home: homedir(),
  cwd: process.cwd(),
  osPlatform: process.platform,
  nodeVersion: process.versions.node,
  fetch,
  now: Date.now,
  signals: process,
  self: {
    command: process.execPath,
    args: [fileURLToPath(new URL('../bin/patchbay.mjs', import.meta.url))],
  },
  // Loaded only for `up`, `doctor`, `agents lint` and `agents new`: the other commands talk to a platform and start in a fraction of the time.
  startPlatform: async options => (await import('@patchbay/server/main')).startPatchbay(options),
  examineInstallation: async surroundings =>
    (await import('@patchbay/server/doctor')).examineInstallation(surroundings),
  lintAgentFile: async file => (await import('@patchbay/server/lint')).lintAgentFile(file),
  modelNeeds: async model => (await import('@patchbay/server/lint')).modelNeeds(model),
});
// Idle connections of fetch must not keep a finished command alive; what was written must be out before.
process.stdout.write('', () => process.exit(exitCode));
