import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

// Breaks an installation in the ways people do, reads what the doctor says, and runs the command it prints.

const BIN = fileURLToPath(new URL('../../packages/cli/bin/patchbay.mjs', import.meta.url));
const HELLO = fileURLToPath(new URL('../../examples/hello.yaml', import.meta.url));
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

interface Finding {
  readonly check: string;
  readonly verdict: 'ok' | 'warning' | 'problem';
  readonly says: string;
  readonly mend?: string;
}

/** Somebody's home folder, and the port they use. */
let home: string;
let port: number;
let dataDir: string;
const running: ChildProcess[] = [];

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'patchbay-doctor-'));
  port = await freePort();
  dataDir = join(home, '.patchbay');
});
afterEach(async () => {
  for (const child of running.splice(0)) await stop(child);
  await rm(home, { recursive: true, force: true });
});

/** Runs a line as a person would paste it, where a pasted `export` or `unset` would come before. */
function shell(line: string, options: { uid?: number; env?: Record<string, string> } = {}): ChildProcess {
  const words = 'npx() { shift; exec "$NODE" "$BIN" "$@"; }; sudo() { "$@"; }; id() { echo nobody; }';
  return spawn('sh', ['-e', '-c', `${words}\n${line}`], {
    cwd: home,
    env: {
      PATH: process.env.PATH,
      HOME: home,
      NODE: process.execPath,
      BIN,
      PATCHBAY_PORT: String(port),
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(options.uid !== undefined && { uid: options.uid, gid: options.uid }),
  });
}

async function finished(child: ChildProcess): Promise<{ exitCode: number | null; out: string; err: string }> {
  const [out, err, [exitCode]] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    once(child, 'exit'),
  ]);
  return { exitCode, out, err };
}

const run = (line: string, options: Parameters<typeof shell>[1] = {}) => finished(shell(line, options));

/** The findings that are not ok. */
async function doctor(options: Parameters<typeof shell>[1] & { before?: string } = {}): Promise<Finding[]> {
  const { exitCode, out, err } = await run(`${options.before ?? ''}\nnpx patchbay doctor --json`, options);
  expect(out, err).not.toBe('');
  const { problems, findings } = JSON.parse(out) as { problems: number; findings: Finding[] };
  expect(exitCode).toBe(problems > 0 ? 1 : 0);
  return findings.filter(({ verdict }) => verdict !== 'ok');
}

/** Runs `npx patchbay up`, or another line that starts a platform, until it is ready. */
async function up(line = 'npx patchbay up'): Promise<ChildProcess> {
  const child = shell(line);
  running.push(child);
  let complaint = '';
  child.stderr!.on('data', chunk => {
    complaint += chunk;
  });
  for await (const chunk of child.stdout!.iterator({ destroyOnReturn: false })) {
    if (String(chunk).includes('Ctrl-C')) {
      child.stdout!.resume();
      return child;
    }
  }
  throw new Error(`The platform did not start: ${complaint}`);
}

async function stop(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode === null && child.signalCode === null && child.kill(signal)) await once(child, 'exit');
}

async function freePort(): Promise<number> {
  const server = await listen(0);
  const { port: free } = server.address() as { port: number };
  await new Promise(resolve => server.close(resolve));
  return free;
}

async function listen(at: number): Promise<Server> {
  const server = createServer(socket => socket.resume().end('220 not what you expect\r\n')).listen(
    at,
    '127.0.0.1',
  );
  await once(server, 'listening');
  return server;
}

const NOT_RUNNING = { check: 'platform', verdict: 'warning', mend: 'npx patchbay up' };

describe('the doctor of a fresh machine', () => {
  it('makes nothing, and its command starts a platform', async () => {
    const [finding, ...others] = await doctor();
    expect([finding, ...others]).toMatchObject([NOT_RUNNING]);
    expect(await readdir(home)).toEqual([]);
    await up(finding!.mend);
    expect(await doctor()).toMatchObject([{ check: 'keys', verdict: 'warning' }]);
  });
});

describe('the doctor of a platform that runs', () => {
  let platform: ChildProcess;
  beforeEach(async () => {
    platform = await up();
    await run('npx patchbay keys create --scope operator --scope agents');
    expect((await run('npx patchbay doctor')).out).toMatch(/^Nothing is wrong\./);
  });

  it('says which agent cannot run and why, until its file is deployed again', async () => {
    await run(`npx patchbay agents deploy ${HELLO}`);
    const database = new DatabaseSync(join(dataDir, 'patchbay.db'));
    database.exec(
      `update document_versions set body = '{"workflowSteps":[{"type":"telepathy"}]}' where type = 'workflow' and id = 'hello'`,
    );
    database.close();
    const [finding] = await doctor();
    expect(finding).toMatchObject({ check: 'agents', verdict: 'problem' });
    expect(finding!.says).toMatch(/^hello \(version 1, production\) .*unknown step type "telepathy"/);
    await run(finding!.mend!.replace('FILE', HELLO));
    expect(await doctor()).toEqual([]);
  });

  it('writes the entries of hosts anew that lead nowhere or have a key that ended', async () => {
    await run('npx patchbay connect cursor --write');
    await run('npx patchbay connect cursor --agent demo --with-key --write');
    await run('npx patchbay connect claude-desktop --write');
    expect(await doctor()).toEqual([]);
    const cursor = join(home, '.cursor', 'mcp.json');
    const desktop = join(home, '.config', 'Claude', 'claude_desktop_config.json');
    const changed = async (
      file: string,
      change: (servers: Record<string, Record<string, unknown>>) => void,
    ) => {
      const config = JSON.parse(await readFile(file, 'utf8'));
      change(config.mcpServers);
      await writeFile(file, JSON.stringify(config));
    };
    await changed(cursor, servers => {
      servers.patchbay!.url = `http://127.0.0.1:${port}/old/path`;
    });
    await changed(desktop, servers => {
      servers.patchbay!.command = join(home, 'node-that-was-removed');
    });
    const { keys } = JSON.parse((await run('npx patchbay keys list --json')).out);
    const ofAgent = keys.find((key: { kind: string }) => key.kind === 'agent');
    await run(`npx patchbay keys revoke ${ofAgent.id}`);
    const found = await doctor();
    expect(found.map(({ says }) => says).sort()).toEqual([
      expect.stringMatching(/^The entry patchbay of Claude Desktop starts .*, which is not there\.$/),
      expect.stringMatching(/^The entry patchbay of Cursor leads to .*\/old\/path/),
      expect.stringMatching(/^The entry patchbay-demo of Cursor has a key that opens nothing/),
    ]);
    for (const { mend } of found) await run(mend!);
    expect(await doctor()).toEqual([]);
  });

  it('closes what others can read', async () => {
    await chmod(dataDir, 0o755);
    await chmod(join(dataDir, 'local-owner'), 0o644);
    const found = await doctor();
    expect(found).toMatchObject([
      { check: 'data folder', verdict: 'problem' },
      { check: 'local owner', verdict: 'problem' },
    ]);
    await run(found[1]!.mend!);
    const left = await doctor();
    expect(left).toMatchObject([{ check: 'data folder', verdict: 'warning' }]);
    await run(left[0]!.mend!);
    expect(await doctor()).toEqual([]);
  });

  it('ends one that is stuck, and starts one where another was killed', async () => {
    platform.kill('SIGSTOP');
    const [stuck, ...others] = await doctor();
    expect([stuck, ...others]).toMatchObject([{ check: 'platform', verdict: 'problem' }]);
    expect(stuck!.says).toContain('stuck');
    expect(stuck!.mend).toBe(`kill -9 ${platform.pid}`);
    const ended = once(platform, 'exit');
    await run(stuck!.mend!);
    await ended;
    const [killed] = await doctor();
    expect(killed).toMatchObject(NOT_RUNNING);
    expect(killed!.says).toContain('without tidying up');
    await up(killed!.mend);
    expect(await doctor()).toEqual([]);
  });

  it('never shows a secret', async () => {
    const { token } = JSON.parse(await readFile(join(dataDir, 'local-owner'), 'utf8'));
    const { out } = await run('npx patchbay doctor --json', {
      env: { PATCHBAY_DATABASE_URL: 'postgres://ada:hunter2@127.0.0.1:2/patchbay' },
    });
    expect(out).toContain('127.0.0.1:2');
    expect(out).not.toContain('hunter2');
    expect(out).not.toContain(token);
    expect(out).not.toMatch(/(oag|bak)_[0-9a-f]{13}/);
  });
});

describe('the doctor of a platform that is stopped', () => {
  beforeEach(async () => stop(await up()));

  it('reads what it left and changes none of it', async () => {
    const copy = join(home, 'copy');
    await cp(dataDir, copy, { recursive: true, preserveTimestamps: true });
    expect(await doctor()).toMatchObject([NOT_RUNNING, { check: 'keys' }]);
    expect((await readdir(dataDir)).sort()).toEqual((await readdir(copy)).sort());
    for (const name of await readdir(copy)) {
      expect(await readFile(join(dataDir, name)), name).toEqual(await readFile(join(copy, name)));
    }
  });

  it('finds another port where a stranger has taken this one', async () => {
    const stranger = await listen(port);
    const [finding] = await doctor();
    expect(finding).toMatchObject({ check: 'port', verdict: 'problem' });
    await up(finding!.mend);
    expect(await doctor({ before: finding!.mend!.replace(/^(\S+) .*/, 'export $1') })).toMatchObject([
      { check: 'keys', verdict: 'warning' },
    ]);
    await new Promise(resolve => stranger.close(resolve));
  });

  it('takes back a setting that is wrong, and one that nobody knows', async () => {
    const env = { PATCHBAY_LOG_LEVEL: 'loud', PATCHBAY_DATADIR: '/srv/data' };
    const [wrong] = await doctor({ env });
    expect(wrong).toMatchObject({
      check: 'configuration',
      verdict: 'problem',
      mend: 'unset PATCHBAY_LOG_LEVEL',
    });
    const [unknown] = await doctor({ env, before: wrong!.mend! });
    expect(unknown).toMatchObject({ check: 'configuration', verdict: 'warning' });
    expect(unknown!.says).toContain('Did you mean PATCHBAY_DATA_DIR?');
    const before = `${wrong!.mend}\n${unknown!.mend}`;
    expect((await doctor({ env, before })).map(({ check }) => check)).toEqual(['platform', 'keys']);
  });

  it('puts a database aside that is damaged, so that a start makes a new one', async () => {
    await writeFile(join(dataDir, 'patchbay.db'), 'overwritten by a backup of something else'.repeat(500));
    const [finding] = await doctor();
    expect(finding).toMatchObject({ check: 'database', verdict: 'problem' });
    await run(finding!.mend!);
    await up();
    expect(await doctor()).toMatchObject([{ check: 'keys' }]);
  });

  it('says that there are no pages of documentation', async () => {
    await mkdir(join(home, 'pages'));
    const env = { PATCHBAY_DOCS_PATH: join(home, 'pages') };
    const found = await doctor({ env });
    const docs = found.find(({ check }) => check === 'docs');
    expect(docs).toMatchObject({ verdict: 'warning', mend: 'unset PATCHBAY_DOCS_PATH' });
    expect((await doctor({ env, before: docs!.mend! })).map(({ check }) => check)).not.toContain('docs');
  });

  it.skipIf(!isRoot)('gives the data folder back to its user after a start as another one', async () => {
    await chmod(home, 0o755);
    const [finding] = await doctor({ uid: NOBODY });
    expect(finding).toMatchObject({ check: 'data folder', verdict: 'problem' });
    expect(finding!.says).toContain('as another user');
    const mended = await run(finding!.mend!);
    expect(mended).toMatchObject({ exitCode: 0, err: '' });
    expect(await doctor({ uid: NOBODY })).toMatchObject([NOT_RUNNING, { check: 'keys' }]);
  });
});
