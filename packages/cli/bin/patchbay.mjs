#!/usr/bin/env node
// Plain JavaScript, because an old Node must be able to read it: it finds a Node that can run the rest.
import { spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import module from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NEEDED = 24;
const main = new URL('../src/main.ts', import.meta.url);

if (Number.parseInt(process.versions.node, 10) >= NEEDED) {
  // What was compiled once is not compiled again at the next start; where the folder cannot be written, all goes on without.
  module.enableCompileCache?.(
    fileURLToPath(new URL('../../../node_modules/.cache/patchbay', import.meta.url)),
  );
  // Started by an old Node, as below, that was killed: nobody could stop this one any more.
  process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.channel?.unref();
  await import(main.href);
} else {
  const node = findPinnedNode();
  if (node) runWith(node);
  else {
    process.stderr.write(
      `patchbay needs Node ${NEEDED} or newer and this is ${process.version}; run npm ci in the Patchbay folder or install a newer Node.\n`,
    );
    process.exitCode = 1;
  }
}

/** The Node that npm installed beside us: `node_modules/.bin/node` of this folder or one above it. */
function findPinnedNode() {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (true) {
    const candidate = join(folder, 'node_modules', '.bin', 'node');
    // Ourselves would only start ourselves again, for ever.
    if (existsSync(candidate) && realpathSync(candidate) !== realpathSync(process.execPath)) return candidate;
    const parent = dirname(folder);
    if (parent === folder) return undefined;
    folder = parent;
  }
}

function runWith(node) {
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  // The child decides when to go; up ignores the second copy of a Ctrl-C that the terminal already gave it.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', error => {
    process.stderr.write(`patchbay could not start ${node}: ${error.message}\n`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    process.exit(signal ? 128 + constants.signals[signal] : code);
  });
}
