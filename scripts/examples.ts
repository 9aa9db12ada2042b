import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { OPERATIONS } from '@patchbay/contract/operations';

// Does what the documentation shows, as a newcomer would: starts a fresh platform with the command, deploys each file of
// examples/ and talks to its agent, and calls every operation with the arguments its definition gives as examples.

const ROOT = path.resolve(import.meta.dirname, '..');
const FOLDER = path.join(ROOT, 'examples');
const START_LIMIT = 60_000;

interface Example {
  readonly name: string;
  /** Arguments of the command. */
  readonly run: readonly string[];
}

function* examples(): Generator<Example> {
  for (const file of readdirSync(FOLDER).filter(each => /\.(ya?ml|json)$/.test(each))) {
    yield { name: `deploy ${file}`, run: ['agents', 'deploy', path.join(FOLDER, file)] };
    const agentId = path.parse(file).name;
    yield { name: `talk to ${agentId}`, run: ['chat', agentId, '--message', 'hello'] };
  }
  for (const { name, examples } of OPERATIONS)
    for (const example of examples) {
      const args = JSON.stringify(example);
      yield { name: `${name} ${args}`, run: ['call', name, '--json', args] };
    }
}

/** Runs `patchbay` with the settings of this run and none of the machine's. */
function patchbay(args: readonly string[], settings: Readonly<Record<string, string>>): ChildProcess {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('PATCHBAY_'));
  return spawn(process.execPath, [path.join(ROOT, 'packages/cli/bin/patchbay.mjs'), ...args], {
    env: { ...Object.fromEntries(own), ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Resolves to what is wrong, or to nothing when the command succeeded and said something. */
async function complaint(
  { run }: Example,
  settings: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const child = patchbay(run, settings);
  const [said, complained, [exitCode]] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    once(child, 'exit'),
  ]);
  if (exitCode !== 0) return `exit code ${exitCode}: ${complained.trim() || said.trim()}`;
  return said.trim() === '' ? 'it printed nothing' : undefined;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}

/** Resolves when the platform says that it is ready: its first line. */
async function ready(platform: ChildProcess): Promise<void> {
  const ended = once(platform, 'exit').then(() => {
    throw new Error('the platform ended before it was ready');
  });
  await Promise.race([once(platform.stdout!, 'data', { signal: AbortSignal.timeout(START_LIMIT) }), ended]);
}

const data = mkdtempSync(path.join(tmpdir(), 'patchbay-examples-'));
const settings = { PATCHBAY_DATA_DIR: data, PATCHBAY_PORT: String(await freePort()) };
const platform = patchbay(['up', '--json'], settings);
const log = text(platform.stderr!);
let passed = 0;
let failed = 0;
try {
  await ready(platform);
  for (const example of examples()) {
    const wrong = await complaint(example, settings);
    if (wrong === undefined) passed++;
    else failed++;
    console.log(
      `${wrong === undefined ? 'ok  ' : 'FAIL'} ${example.name}${wrong === undefined ? '' : `: ${wrong}`}`,
    );
  }
} catch (error) {
  failed++;
  console.log(`FAIL start: ${(error as Error).message}`);
} finally {
  if (platform.exitCode === null && platform.kill('SIGTERM')) await once(platform, 'exit');
  if (failed > 0) console.log(`\nLog of the platform:\n${await log}`);
  rmSync(data, { recursive: true, force: true });
}
console.log(`examples: ${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
