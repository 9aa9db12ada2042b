import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Io, RunningPlatform, StartPlatform } from '../io.ts';
import { eventually } from '../testing/eventually.ts';
import { type FakePlatform, startFakePlatform } from '../testing/fake-platform.ts';
import { createTestIo } from '../testing/test-io.ts';

const FIRST_KEY = `oag_${'f'.repeat(64)}`;
const FIRST_SIGN_IN = `http://127.0.0.1:7070/sign-in/link/${'a'.repeat(43)}`;

let platform: FakePlatform;

beforeAll(async () => {
  platform = await startFakePlatform();
});
afterAll(() => platform.stop());

function running(over: Partial<RunningPlatform> = {}): RunningPlatform {
  return {
    url: platform.url,
    operatorUrl: `${platform.url}/mcp`,
    agentUrl: agentId => `${platform.url}/${agentId}/mcp`,
    dataDir: platform.dataDir,
    firstStart: true,
    firstKey: FIRST_KEY,
    firstSignIn: FIRST_SIGN_IN,
    authOff: false,
    stop: async () => {},
    ...over,
  };
}

/** Runs `up` until its screen is complete, then stops it as Ctrl-C does. */
async function screen(
  over: Partial<Io> & { terminal?: boolean },
  state?: Partial<RunningPlatform>,
  ...words: string[]
) {
  const start = vi.fn<StartPlatform>(async () => running(state));
  const io = createTestIo({ home: platform.home, startPlatform: start, ...over });
  const ended = io.run('up', ...words);
  await eventually(() => expect(io.out()).not.toBe(''));
  io.signals.emit('SIGINT');
  return { io, start, exitCode: await ended };
}

describe('up', () => {
  it('shows a person both addresses, the first key and an address to sign in once, an entry to paste and a line to try', async () => {
    const { io, start, exitCode } = await screen({ terminal: true });
    expect(exitCode).toBe(0);
    expect(start.mock.calls[0]![0]).toMatchObject({
      interactive: true,
      home: platform.home,
      logTo: io.stderr,
    });
    const out = io.out();
    expect(out).toMatch(new RegExp(`${platform.url}/mcp +every tool`));
    expect(out).toContain(`${platform.url}/demo/mcp    one agent`);
    expect(out).toContain(`shown this once:\n    ${FIRST_KEY}\n`);
    expect(out).toContain(`once and within ten minutes:\n    ${FIRST_SIGN_IN}\n`);
    expect(out).toContain('Ctrl-C');
    const { mcpServers } = JSON.parse(/\n( {4}\{\n[\s\S]+?\n {4}\})\n/.exec(out)![1]!);
    expect(mcpServers).toEqual({
      patchbay: { url: `${platform.url}/mcp`, headers: { Authorization: `Bearer ${FIRST_KEY}` } },
      'patchbay-demo': { url: `${platform.url}/demo/mcp`, headers: { Authorization: `Bearer ${FIRST_KEY}` } },
    });
    const curl = /^ {4}(curl .+)$/m.exec(out)![1]!;
    expect(curl).toBe(
      `curl -s ${platform.url}/demo/mcp -H "Authorization: Bearer ${FIRST_KEY}" -H 'Content-Type: application/json' ` +
        `-d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"demo","arguments":{"message":"hello"}}}'`,
    );
  });

  it('shows no key where no terminal is, but how to make one and an entry that needs none', async () => {
    const { io, start } = await screen({});
    expect(start.mock.calls[0]![0].interactive).toBe(false);
    expect(io.out() + io.err()).not.toContain('oag_');
    expect(io.out() + io.err()).not.toContain(FIRST_SIGN_IN);
    expect(io.out()).toContain('npx patchbay sign-in');
    expect(io.out()).toContain('npx patchbay keys create --scope agents --scope operator');
    const { mcpServers } = JSON.parse(/\n( {4}\{\n[\s\S]+?\n {4}\})\n/.exec(io.out())![1]!);
    expect(mcpServers['patchbay-demo']).toEqual({
      command: '/opt/node',
      args: ['/opt/patchbay.mjs', 'stdio', 'demo'],
    });
    expect(io.out()).toContain('Bearer $(npx patchbay keys create --scope agents 2>/dev/null)"');
  });

  it('tells the entry of a platform with another data folder where to look', async () => {
    const { io } = await screen({ home: '/elsewhere' });
    expect(io.out()).toContain(`"PATCHBAY_DATA_DIR": "${platform.dataDir}"`);
  });

  it('prints one line of JSON with --json', async () => {
    const { io } = await screen({}, { firstStart: false }, '--json');
    expect(JSON.parse(io.out())).toEqual({
      url: platform.url,
      operatorUrl: `${platform.url}/mcp`,
      agentUrl: `${platform.url}/demo/mcp`,
      dataDir: platform.dataDir,
      firstStart: false,
    });
  });

  it('says aloud that authentication is off, and what to do without an agent', async () => {
    const discover = platform.handlers.discover_agents!;
    platform.handlers.discover_agents = () => ({ count: 0, agents: [] });
    try {
      const { io } = await screen({}, { authOff: true });
      expect(io.out()).toContain('Authentication is off');
      expect(io.out()).toContain('npx patchbay agents deploy FILE');
      expect(io.out()).toContain('"name":"list_docs"');
    } finally {
      platform.handlers.discover_agents = discover;
    }
  });

  it('asks the platform it started, whatever the environment names', async () => {
    const env = { PATCHBAY_URL: 'http://127.0.0.1:2', PATCHBAY_KEY: 'oag_other' };
    const { io } = await screen({ env });
    expect(io.out()).toContain('/demo/mcp');
  });
});

describe('stopping up', () => {
  it('waits for the platform, takes a doubled Ctrl-C for one, and a later one for impatience', async () => {
    let now = 0;
    const stop = vi.fn(() => new Promise<void>(() => {}));
    const io = createTestIo({
      home: platform.home,
      now: () => now,
      startPlatform: async () => running({ stop }),
    });
    const onEnd = vi.fn();
    const ended = io.run('up').finally(onEnd);
    await eventually(() => expect(io.out()).not.toBe(''));
    io.signals.emit('SIGINT');
    now = 50;
    io.signals.emit('SIGINT');
    // A signal that is not taken for the same one ends the command at once.
    await nextTurn();
    expect(onEnd).not.toHaveBeenCalled();
    now = 5000;
    io.signals.emit('SIGINT');
    expect(await ended).toBe(1);
    expect(stop).toHaveBeenCalledTimes(1);
    expect(io.signals.listenerCount('SIGINT')).toBe(0);
  });

  it('exits 1 with the sentence of a platform that refuses to start', async () => {
    const startPlatform = () => Promise.reject(new Error('Port 7070 is in use.'));
    const io = createTestIo({ home: platform.home, startPlatform });
    expect(await io.run('up')).toBe(1);
    expect(io.out()).toBe('');
    expect(io.err()).toBe('patchbay: Port 7070 is in use.\n');
  });
});
