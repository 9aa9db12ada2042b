// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders such as ${env:NAME} are what hosts write
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dumpFolder, newCanary, placesWith } from '../canary.ts';
import { npmServer } from '../connections/servers/npm-server.ts';

const bin = fileURLToPath(new URL('../../packages/cli/bin/patchbay.mjs', import.meta.url));
const CRASHING = fileURLToPath(new URL('../connections/servers/mcp-program.ts', import.meta.url));

let folder: string;
let up: ChildProcess;
let log = '';

function start(args: readonly string[], env: Record<string, string> = {}): ChildProcess {
  return spawn(process.execPath, [bin, ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

async function patchbay(
  args: readonly string[],
  { input = '', env = {} }: { input?: string; env?: Record<string, string> } = {},
) {
  const child = start(args, env);
  child.stdin!.end(input);
  const [out, err, [exitCode]] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    once(child, 'exit'),
  ]);
  return { exitCode, out, err };
}

/** A program, so that Node itself has to strip its types. */
async function configure(servers: string): Promise<void> {
  const draft = join(folder, 'draft');
  await writeFile(
    draft,
    `type Servers = Record<string, { readonly command: string; readonly args: readonly string[] }>;
     const servers: Servers = { ${servers} };
     export default { port: 0, dataDir: 'data', servers };`,
  );
  await rename(draft, join(folder, 'patchbay.config.ts'));
}

const memory = `memory: { command: ${JSON.stringify(process.execPath)}, args: [${JSON.stringify(npmServer('memory'))}] }`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'patchbay-servers-command-'));
  await configure(memory);
  up = start(['up', '--json'], { LANG: 'C.UTF-8', OF_THE_PLATFORM: 'nobody else sees it' });
  up.stderr!.on('data', chunk => {
    log += chunk;
  });
  await once(up.stdout!, 'data');
});
afterAll(async () => {
  if (up.exitCode === null && up.kill('SIGTERM')) await once(up, 'exit');
  await rm(folder, { recursive: true });
});

describe('patchbay servers', () => {
  it('adds a program, shows it, lists its tools, calls one, and removes it (W-49) (W-51)', async () => {
    const added = await patchbay([
      'servers',
      'add',
      'everything',
      '--',
      process.execPath,
      npmServer('everything'),
    ]);
    expect(added).toMatchObject({
      exitCode: 0,
      out: expect.stringMatching(/^Added everything: \d+ tools\.\n$/),
    });
    const list = async () => (await patchbay(['servers', 'list'])).out;
    expect(await list()).toMatch(/^everything +available +\d+ +program +added$/m);
    await expect.poll(list, { timeout: 20_000 }).toMatch(/^memory +available +\d+ +program +file$/m);
    const shown = await patchbay(['servers', 'show', 'everything']);
    expect(shown.out).toContain('default/everything is connected and offers ');
    expect(shown.out).toContain(npmServer('everything'));
    const tools = await patchbay(['servers', 'tools', 'everything']);
    expect(tools.out).toMatch(/^echo +offered +everything__echo +/m);
    const called = await patchbay(['servers', 'call', 'everything', 'echo', '--arg', 'message=hello']);
    expect(called).toMatchObject({ exitCode: 0, out: expect.stringContaining('hello') });
    const wrong = await patchbay(['servers', 'call', 'everything', 'echo', '{"message": 1}']);
    expect(wrong.exitCode).toBe(1);
    expect(await patchbay(['servers', 'remove', 'everything'])).toMatchObject({
      exitCode: 0,
      out: 'Removed everything.\n',
    });
    expect((await patchbay(['servers', 'show', 'everything'])).exitCode).toBe(1);
    expect((await patchbay(['servers', 'remove', 'memory'])).err).toContain(
      'default/memory is a server of the configuration',
    );
  });

  it('gives a program the nine variables that are set, its own, and nothing else (W-07) (W-08) (W-09) (attack 45)', async () => {
    const own = ['--env', 'HOME=/of/its/own', '--env', 'COLOUR=blue'];
    await patchbay(['servers', 'add', 'seeing', ...own, '--', process.execPath, npmServer('everything')]);
    const { out } = await patchbay(['servers', 'call', 'seeing', 'get-env']);
    expect(JSON.parse(out)).toEqual({
      ...{ HOME: '/of/its/own', COLOUR: 'blue', LANG: 'C.UTF-8', PATH: expect.any(String) },
    });
    await patchbay(['servers', 'remove', 'seeing']);
  });

  it('says why one is down, with what it wrote, and what to do', async () => {
    const added = await patchbay([
      'servers',
      'add',
      'crashing',
      '--',
      process.execPath,
      CRASHING,
      join(folder, 'calls'),
      'crash',
    ]);
    expect(added.out).toMatch(/^Added crashing, but it is down: /);
    const shown = await patchbay(['servers', 'show', 'crashing']);
    expect(shown.out).toMatch(/^default\/crashing is down after (one try|\d+ tries): /);
    expect(shown.out).toContain('What to do: ');
    expect(shown.out).toContain('It wrote to standard error:\n  Error: the database is locked');
    await patchbay(['servers', 'remove', 'crashing']);
  });

  it('imports the file of another host, with secrets of the environment, which stay in the vault (attack 46)', async () => {
    const canary = newCanary();
    const noted = join(folder, 'noted');
    const file = `{
      // as Claude Code writes it
      "mcpServers": {
        "Every Thing": {
          "command": ${JSON.stringify(process.execPath)},
          "args": [${JSON.stringify(npmServer('everything'))}],
          "env": { "SOME_VALUE": "\${env:MY_TOKEN}" },
        },
        "noting": {
          "command": ${JSON.stringify(process.execPath)},
          "args": ["-e", ${JSON.stringify(`require('node:fs').writeFileSync(${JSON.stringify(noted)}, process.env.SOME_VALUE)`)}],
          "env": { "SOME_VALUE": "\${MY_TOKEN}" }
        },
        "missing": { "url": "https://\${NOT_SET}.example.com" },
      },
    }`;
    await writeFile(join(folder, '.mcp.json'), file);
    const env = { MY_TOKEN: canary.value };
    const unasked = await patchbay(['servers', 'import', '.mcp.json'], { env });
    expect(unasked).toMatchObject({ exitCode: 2, err: expect.stringContaining('Give --yes') });
    const imported = await patchbay(['servers', 'import', '.mcp.json', '--yes'], { env });
    expect(imported).toMatchObject({ exitCode: 1, out: 'Added Every-Thing.\nAdded noting.\n' });
    expect(imported.err).toContain(
      'Not added missing: url needs the variable NOT_SET, which is not set here.',
    );
    expect(imported.err).toContain('2 of 3 servers were added; not missing.');

    const known = () => patchbay(['servers', 'list', '--json']);
    await expect
      .poll(async () => (await known()).out, { timeout: 20_000 })
      .toMatch(/"name": "Every-Thing",[^}]*"state": "available"/);
    const noting = () => readFile(noted, 'utf8').catch(() => '');
    await expect.poll(noting, { timeout: 20_000 }).toBe(canary.value);
    // What a server repeats of it does not come back.
    const got = await patchbay(['servers', 'call', 'Every-Thing', 'get-env']);
    expect(got.out).toContain('SOME_VALUE');
    const shown = await patchbay(['servers', 'show', 'Every-Thing']);
    expect(shown.out).toContain('SOME_VALUE=${vault:servers.default.Every-Thing.SOME_VALUE}');
    const places = {
      answers: [unasked, imported, got, shown, await known()],
      log,
      folder: await dumpFolder(join(folder, 'data')),
    };
    expect(placesWith(canary, places)).toEqual([]);
    expect(placesWith(canary, { noted: await noting() })).toEqual(['noted']);
    await patchbay(['servers', 'remove', 'Every-Thing', 'noting']);
  });

  it('follow the configuration file while the platform runs', async () => {
    const list = async () => (await patchbay(['servers', 'list'])).out;
    await configure(`${memory}, ${memory.replace('memory', 'second')}`);
    await expect.poll(list, { timeout: 20_000 }).toMatch(/^second +available/m);
    await configure('broken: {} as never');
    await expect.poll(() => log, { timeout: 20_000 }).toContain('Server broken: transport is required');
    expect(await list()).toMatch(/^memory +available[\s\S]*^second +available/m);
  });

  it('teach how they are used', async () => {
    for (const command of ['add', 'import', 'list', 'show', 'tools', 'call', 'accept', 'remove']) {
      const { exitCode, out } = await patchbay(['servers', command, '--help']);
      expect(exitCode).toBe(0);
      expect(out).toContain(`npx patchbay servers ${command}`);
    }
    expect((await patchbay(['servers', 'add', 'x'])).exitCode).toBe(2);
    const nowhere = await patchbay(['servers', 'list'], { env: { PATCHBAY_URL: 'http://127.0.0.1:9' } });
    expect(nowhere.exitCode).toBe(4);
  });
});
