import { execFile, spawn } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../src/testing/eventually.ts';
import { type FakePlatform, startFakePlatform } from '../src/testing/fake-platform.ts';

const bin = fileURLToPath(new URL('patchbay.mjs', import.meta.url));
const run = promisify(execFile);

describe('patchbay.mjs', () => {
  let platform: FakePlatform;
  beforeAll(async () => {
    platform = await startFakePlatform();
  });
  afterAll(() => platform.stop());

  const env = (): NodeJS.ProcessEnv => ({ PATH: process.env.PATH, HOME: platform.home });

  it('runs commands against the running platform and passes exit codes on', async () => {
    const { stdout } = await run(process.execPath, [bin, 'agents', 'list', '--json'], { env: env() });
    expect(JSON.parse(stdout).count).toBe(1);
    const failed = await run(process.execPath, [bin, 'keys', 'list', '--key', 'x'], { env: env() }).catch(
      e => e,
    );
    expect(failed).toMatchObject({ code: 3, stdout: '', stderr: expect.stringMatching(/^patchbay: .+\n$/) });
  });

  it('bridges over real pipes, a character cut in two, and ends soon after its input', async () => {
    platform.door = (_, response, body) => {
      const { id, params } = JSON.parse(body);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { said: params.said } }));
    };
    const child = spawn(process.execPath, [bin, 'stdio'], { env: env(), stdio: ['pipe', 'pipe', 'pipe'] });
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', text => {
      stdout += text;
    });
    const exited = new Promise<number | null>(resolve => child.on('exit', resolve));
    const said = 'árvíztűrő 😀';
    const line = (id: number): string =>
      `{"jsonrpc":"2.0","id":${id},"method":"tools/list","params":{"said":"${said}"}}\n`;
    const bytes = Buffer.from(line(1) + line(2));
    const cut = bytes.lastIndexOf(Buffer.from('😀')) + 2;
    child.stdin.write(bytes.subarray(0, cut));
    // Once the first is answered, what came with it has been read.
    await eventually(() => expect(stdout.split('\n')).toHaveLength(2));
    child.stdin.write(bytes.subarray(cut));
    await eventually(() => expect(stdout.split('\n')).toHaveLength(3));
    const endedAt = performance.now();
    child.stdin.end();
    expect(await exited).toBe(0);
    // Well below the idle time of a connection, which must not keep it.
    expect(performance.now() - endedAt).toBeLessThan(3500);
    const answers = stdout.trimEnd().split('\n');
    expect(answers.map(answer => JSON.parse(answer))).toEqual(
      [1, 2].map(id => ({ jsonrpc: '2.0', id, result: { said } })),
    );
  });
});

describe('patchbay.mjs under an old Node', () => {
  let folder: string;
  let script: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'patchbay-bin-'));
    script = join(folder, 'packages', 'cli', 'bin', 'patchbay.mjs');
    await mkdir(join(folder, 'packages', 'cli', 'bin'), { recursive: true });
    await mkdir(join(folder, 'packages', 'cli', 'src'));
    await copyFile(bin, script);
    await writeFile(
      join(folder, 'old.mjs'),
      "Object.defineProperty(process.versions, 'node', { value: '20.1.0' });",
    );
  });
  afterEach(() => rm(folder, { recursive: true }));

  /** This Node, saying it is an old one. */
  const old = (...args: string[]): string[] => ['--import', join(folder, 'old.mjs'), script, ...args];

  it('says in one sentence what is needed when npm has installed no other', async () => {
    const failed = await run(process.execPath, old('up')).catch(e => e);
    expect(failed).toMatchObject({ code: 1, stdout: '' });
    expect(failed.stderr).toMatch(/^patchbay needs Node 24 or newer and this is v.+\n$/);
  });

  it('does not start itself again for ever', async () => {
    await mkdir(join(folder, 'node_modules', '.bin'), { recursive: true });
    await symlink(process.execPath, join(folder, 'node_modules', '.bin', 'node'));
    const failed = await run(process.execPath, old('up')).catch(e => e);
    expect(failed.stderr).toContain('needs Node 24');
  });

  /** Another file, as the pinned Node is. */
  const pinNode = async () => {
    await mkdir(join(folder, 'node_modules', '.bin'), { recursive: true });
    await writeFile(
      join(folder, 'node_modules', '.bin', 'node'),
      `#!/bin/sh\nexec "${process.execPath}" "$@"\n`,
      { mode: 0o755 },
    );
  };

  it('takes the pinned one along when it is killed (attack 59)', async () => {
    await pinNode();
    await writeFile(
      join(folder, 'packages', 'cli', 'src', 'main.ts'),
      `process.on('SIGTERM', () => {
         console.log('told to stop');
         process.exit();
       });
       setInterval(() => {}, 1000);
       console.log('runs');`,
    );
    const child = spawn(process.execPath, old('up'), { stdio: ['ignore', 'pipe', 'inherit'] });
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', text => {
      stdout += text;
    });
    // The end of the pipe, which both have, is the end of both.
    const ended = new Promise(resolve => child.stdout.on('end', resolve));
    await eventually(() => expect(stdout).toBe('runs\n'));
    child.kill('SIGKILL');
    await ended;
    expect(stdout).toBe('runs\ntold to stop\n');
  });

  it('ends when the pinned one has nothing more to do', async () => {
    await pinNode();
    await writeFile(join(folder, 'packages', 'cli', 'src', 'main.ts'), `console.log('done');`);
    expect(await run(process.execPath, old('call'))).toMatchObject({ stdout: 'done\n' });
  });

  it('hands arguments, signals and the exit code on to the pinned one', async () => {
    await pinNode();
    await writeFile(
      join(folder, 'packages', 'cli', 'src', 'main.ts'),
      `process.on('SIGTERM', () => process.exit(7));
       setInterval(() => {}, 1000);
       console.log(JSON.stringify(process.argv.slice(2)));`,
    );
    const child = spawn(process.execPath, old('call', 'a b', "c'd"), {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', text => {
      stdout += text;
    });
    const exited = new Promise<number | null>(resolve => child.on('exit', resolve));
    await eventually(() => expect(stdout).toContain('\n'));
    expect(JSON.parse(stdout)).toEqual(['call', 'a b', "c'd"]);
    child.kill('SIGTERM');
    expect(await exited).toBe(7);
  });
});
