import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dumpFolder, newCanary, placesWith } from '../canary.ts';

const bin = fileURLToPath(new URL('../../packages/cli/bin/patchbay.mjs', import.meta.url));

interface Ended {
  readonly exitCode: number | null;
  readonly out: string;
  readonly err: string;
}

/** A person's folder, with a configuration file and a platform started there. */
let folder: string;
let up: ChildProcess;
let addresses: { url: string; operatorUrl: string; dataDir: string };

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
): Promise<Ended> {
  const child = start(args, env);
  child.stdin!.end(input);
  const [out, err, [exitCode]] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    once(child, 'exit'),
  ]);
  return { exitCode, out, err };
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'patchbay-command-'));
  const settings = { port: 0, dataDir: 'data', operatorDoor: { path: '/admin/tools' } };
  await writeFile(join(folder, 'patchbay.config.json'), JSON.stringify(settings));
  up = start(['up', '--json']);
  up.stderr!.resume();
  const [line] = await once(up.stdout!, 'data');
  addresses = JSON.parse(String(line));
});
afterAll(async () => {
  if (up.exitCode === null && up.kill('SIGTERM')) await once(up, 'exit');
  await rm(folder, { recursive: true });
});

describe('secrets on the command line', () => {
  it('go in by standard input, and come out nowhere', async () => {
    const canary = newCanary();
    const set = await patchbay(['secrets', 'set', 'canary'], { input: `${canary.value}\n` });
    expect(set.exitCode).toBe(0);
    const others = [
      await patchbay(['secrets', 'set', 'no name'], { input: canary.value }),
      await patchbay(['secrets', 'list', '--json']),
      await patchbay(['call', 'list_secrets']),
      await patchbay(['secrets', 'rotate']),
      await patchbay(['doctor', '--all']),
      await patchbay(['agents', 'show', 'demo']),
    ];
    expect(others.map(({ exitCode }) => exitCode).slice(1)).not.toContain(2);
    expect(placesWith(canary, { set, ...others, ...(await dumpFolder(folder)) })).toEqual([]);
    expect((await patchbay(['secrets', 'remove', 'canary'])).exitCode).toBe(0);
  });
});

describe('the command line beside a platform with a configuration file', () => {
  it('finds it by the data folder in the file', async () => {
    expect(addresses.dataDir).toBe(join(folder, 'data'));
    const slow = await patchbay(['chat', 'demo', '--message', 'show progress']);
    const texts = JSON.parse((await patchbay(['chat', 'demo', '--message', 'show progress', '--json'])).out);
    expect(slow.out).toBe(`${texts.agentResponseParts.join('\n')}\n`);
    const { out, err } = await patchbay(['chat', 'demo', '--message', 'hello']);
    expect(err).toBe('');
    expect(out.trim()).not.toBe('');
  });

  it('bridges to the operator door where the platform says it is', async () => {
    const { out } = await patchbay(['stdio'], {
      input: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n',
    });
    const { result } = JSON.parse(out);
    expect(result.tools.map((tool: { name: string }) => tool.name)).toContain('discover_agents');
  });

  it('gives hosts that address, and bridges the folder', async () => {
    const http = await patchbay(['connect', 'cursor', '--json']);
    expect(JSON.parse(http.out).entry.url).toBe(addresses.operatorUrl);
    expect(addresses.operatorUrl).toBe(`${addresses.url}/admin/tools`);
    const stdio = await patchbay(['connect', 'claude-desktop', '--json']);
    expect(JSON.parse(stdio.out).entry.env).toEqual({ PATCHBAY_DATA_DIR: join(folder, 'data') });
  });
});

describe('up', () => {
  it('says in one sentence that its port is in use', async () => {
    const { port } = new URL(addresses.url);
    const env = { PATCHBAY_PORT: port, PATCHBAY_DATA_DIR: join(folder, 'second') };
    const { exitCode, out, err } = await patchbay(['up'], { env });
    expect({ exitCode, out }).toEqual({ exitCode: 1, out: '' });
    expect(err.trimEnd().split('\n').at(-1)).toMatch(
      new RegExp(`^patchbay: Port ${port} on 127\\.0\\.0\\.1 is in use, .*PATCHBAY_PORT`),
    );
  });
});
