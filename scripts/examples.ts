import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { OPERATIONS } from '@patchbay/contract/operations';
import { startScriptedModel } from '@patchbay/testing/scripted-model';
import { startServiceDesk } from '../examples/service-desk-server.ts';

// Does what the pages show, as a newcomer would: starts a fresh platform with the command, compares the README with its screen,
// runs the shell lines of the README and of docs/, lints and deploys each file of examples/ and talks to its agent, and calls every
// operation with the arguments its definition gives as examples.

const ROOT = path.resolve(import.meta.dirname, '..');
const BIN = path.join(ROOT, 'packages/cli/bin/patchbay.mjs');
const START_LIMIT = 60_000;
/** As the pages write it; this run has a port of its own. */
const USUAL_URL = 'http://127.0.0.1:7070';
const USUAL_DESK = 'http://127.0.0.1:7099';
const USUAL_MODEL = 'ollama:qwen3';

interface Example {
  readonly name: string;
  readonly complaint: () => Promise<string | undefined> | string | undefined;
}

/** The one program that npm does not bring: lines with it are run where it is. */
const hasCurl = spawnSync('curl', ['--version']).status === 0;
if (!hasCurl) console.log('There is no curl on this machine: lines with it are not run.');

/** A home folder of its own and none of the machine's settings: the command is a stranger here. */
const home = mkdtempSync(path.join(tmpdir(), 'patchbay-examples-'));
const env = {
  PATH: process.env.PATH,
  HOME: home,
  PATCHBAY_PORT: String(await freePort()),
  PATCHBAY_EGRESS_PRIVATE_HOSTS: '127.0.0.1',
  NODE: process.execPath,
  BIN,
  npm_config_offline: 'true',
};

function* examples(screen: string, url: string): Generator<Example> {
  yield { name: 'README.md: the screen', complaint: () => readmeComplaint(screen, url) };
  yield { name: 'npx in a subfolder', complaint: () => run('npx', ['patchbay', 'agents', 'list'], 'docs') };
  const [lineToTry] = /^ *curl .+$/m.exec(screen)!;
  if (hasCurl) yield { name: 'the line to try on the screen', complaint: () => shell(lineToTry) };
  for (const page of ['README.md', ...listFiles('docs', /\.md$/)])
    for (const [index, lines] of shellBlocks(page).entries())
      yield {
        name: `${page}: block ${index + 1}`,
        complaint: () => shell(here(lines, url)),
      };
  for (const file of listFiles('examples', /\.(ya?ml|json)$/)) {
    const agentId = path.parse(file).name;
    yield { name: `lint ${file}`, complaint: () => patchbay('agents', 'lint', file, '--strict') };
    yield { name: `deploy ${file}`, complaint: () => patchbay('agents', 'deploy', file) };
    yield { name: `talk to ${agentId}`, complaint: () => patchbay('chat', agentId, '--message', 'hello') };
  }
  for (const { name, examples } of OPERATIONS)
    for (const example of examples) {
      const args = JSON.stringify(example);
      yield { name: `${name} ${args}`, complaint: () => patchbay('call', name, '--json', args) };
    }
}

/** With what is in the places of this run. */
function here(lines: string, url: string): string {
  const ownModel = `openai-compatible:any --base-url ${model.baseUrl('chat-completions')}`;
  return lines.replaceAll(USUAL_URL, url).replaceAll(USUAL_DESK, deskUrl).replaceAll(USUAL_MODEL, ownModel);
}

/** `npx` for the platform: packages that the repository has are started from there, as there is no network. */
function npxOfHere(): string {
  const folder = path.join(home, 'bin');
  const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-memory/package.json');
  mkdirSync(folder);
  const script = `#!/bin/sh\nexec ${process.execPath} ${path.join(path.dirname(manifest), 'dist/index.js')}\n`;
  writeFileSync(path.join(folder, 'npx'), script, { mode: 0o755 });
  return folder;
}

function listFiles(folder: string, names: RegExp): string[] {
  return readdirSync(path.join(ROOT, folder))
    .filter(name => names.test(name))
    .map(name => `${folder}/${name}`);
}

/** The README shows this screen, with the usual address and without the key and what signs in. */
function readmeComplaint(screen: string, url: string): string | undefined {
  const shown = screen
    .replaceAll(url, USUAL_URL)
    .replaceAll(/oag_[0-9a-f]{64}/g, 'oag_...')
    .replace(/(\/sign-in\/link\/)[\w-]{43}/, '$1...');
  const wanted = `\n\`\`\`\n${shown.trimEnd()}\n\`\`\`\n`;
  return readFileSync(path.join(ROOT, 'README.md'), 'utf8').includes(wanted)
    ? undefined
    : `the README should have this block:\n${wanted}`;
}

/** What a page gives people to run, but for what starts a platform: that is how this run began. */
function shellBlocks(page: string): string[] {
  const blocks = readFileSync(path.join(ROOT, page), 'utf8').matchAll(/^```sh\n(.*?)^```/gms);
  const notHere = hasCurl
    ? /npm (ci|start)|patchbay up|npx node /
    : /npm (ci|start)|patchbay up|npx node |\bcurl /;
  return [...blocks].map(([, lines]) => lines!).filter(lines => !notHere.test(lines));
}

/** Runs lines as a person would paste them. The command is started without npm's help, which takes a second each time. */
function shell(lines: string): Promise<string | undefined> {
  const short = 'npx() { shift; "$NODE" "$BIN" "$@"; }; curl() { command curl --fail "$@"; }';
  return run('sh', ['-e', '-c', `${short}\n${lines}`]);
}

function patchbay(...args: readonly string[]): Promise<string | undefined> {
  return run(process.execPath, [BIN, ...args]);
}

/** Resolves to what is wrong, or to nothing when the program succeeded and said something. */
async function run(program: string, args: readonly string[], folder = '.'): Promise<string | undefined> {
  const child = spawn(program, args, { env, cwd: path.join(ROOT, folder), stdio: ['pipe', 'pipe', 'pipe'] });
  // Whoever reads messages reads this one.
  child.stdin.on('error', () => {}).end('hello\n');
  const [said, complained, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  if (exitCode !== 0) return `exit code ${exitCode}: ${complained.trim() || said.trim()}`;
  return said.trim() === '' && complained.trim() === '' ? 'it printed nothing' : undefined;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}

/** Starts the platform as if at a terminal, where a first start shows a key. */
function start(): ChildProcess {
  const atTerminal = 'data:text/javascript,process.stdout.isTTY = true';
  return spawn(process.execPath, ['--import', atTerminal, BIN, 'up'], {
    env: { ...env, PATH: `${npxOfHere()}:${env.PATH}` },
    cwd: home,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Resolves to the whole ready screen. */
async function ready(platform: ChildProcess): Promise<string> {
  let screen = '';
  const complete = (async () => {
    for await (const chunk of platform.stdout!.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
      screen += chunk;
      if (/Ctrl-C\n$/.test(screen)) return screen;
    }
    throw new Error('the platform ended before it was ready');
  })();
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error(`no ready screen within ${START_LIMIT} ms`)), START_LIMIT).unref();
  });
  return Promise.race([complete, late]);
}

/** The API that the agent of examples/service-desk.yaml calls. */
const desk = await startServiceDesk({ port: 0, key: 'not a real key' });
const deskUrl = `http://127.0.0.1:${(desk.server.address() as { port: number }).port}`;
/** It looks at the notes, and says something. */
const model = await startScriptedModel((_, index) =>
  index % 2 === 0
    ? { calls: [{ name: 'notes__read_graph', input: {} }] }
    : { text: 'There are no notes yet.' },
);
const platform = start();
const log = text(platform.stderr!);
let passed = 0;
let failed = 0;
try {
  const screen = await ready(platform);
  const { origin } = new URL(/http:\S+/.exec(screen)![0]);
  for (const { name, complaint } of examples(screen, origin)) {
    const wrong = await complaint();
    if (wrong === undefined) passed++;
    else failed++;
    console.log(`${wrong === undefined ? 'ok  ' : 'FAIL'} ${name}${wrong === undefined ? '' : `: ${wrong}`}`);
  }
} catch (error) {
  failed++;
  console.log(`FAIL start: ${(error as Error).message}`);
} finally {
  if (platform.exitCode === null && platform.kill('SIGTERM')) await once(platform, 'exit');
  desk.server.close();
  await model[Symbol.asyncDispose]();
  if (failed > 0) console.log(`\nLog of the platform:\n${await log}`);
  rmSync(home, { recursive: true, force: true });
}
console.log(`examples: ${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
