import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@patchbay/contract/client';
import { type RunningPatchbay, startPatchbay } from '@patchbay/server/main';
import { engines, newTestDatabase } from '@patchbay/testing/stores';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { callTool, rpc } from '../doors/wire.ts';

let dataDir: string;
const running: RunningPatchbay[] = [];

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'patchbay-start-'));
});
afterEach(async () => {
  for (const platform of running.splice(0)) await platform.stop();
  await rm(dataDir, { recursive: true, force: true });
});

async function start(options: { interactive?: boolean; env?: Record<string, string>; log?: string[] } = {}) {
  const platform = await startPatchbay({
    env: { PATCHBAY_PORT: '0', PATCHBAY_DATA_DIR: dataDir, ...options.env },
    home: dataDir,
    cwd: dataDir,
    logTo: { write: line => options.log?.push(line) },
    interactive: options.interactive ?? false,
  });
  running.push(platform);
  return platform;
}

const stopAll = async () => {
  for (const platform of running.splice(0)) await platform.stop();
};

const asOwner = async (platform: RunningPatchbay) => {
  const { url, token } = JSON.parse(await readFile(join(dataDir, 'local-owner'), 'utf8')) as {
    url: string;
    token: string;
  };
  expect(url).toBe(platform.url);
  return createClient({ baseUrl: url, token, fetch });
};

describe('the first start', () => {
  it('makes an owner, the demo agent, and one key that opens both doors, shown to a person once', async () => {
    const log: string[] = [];
    const platform = await start({ interactive: true, log });
    expect(platform.firstStart).toBe(true);
    expect(platform.firstKey).toMatch(/^oag_/);
    for (const url of [platform.operatorUrl, platform.agentUrl('demo')]) {
      expect((await rpc(url, 'tools/list', {}, { key: platform.firstKey })).status).toBe(200);
    }
    expect(log.join('')).not.toContain(platform.firstKey);
    expect(platform.firstSignIn).toContain(`${platform.url}/sign-in/link/`);
    expect(await (await fetch(platform.firstSignIn!)).text()).toContain('signs you in as owner');
    expect(log.join('')).not.toContain(platform.firstSignIn);
    await stopAll();
    const again = await start({ interactive: true });
    expect(again.firstStart).toBe(false);
    expect(again.firstKey).toBeUndefined();
    expect(again.firstSignIn).toBeUndefined();
    expect((await rpc(again.operatorUrl, 'tools/list', {}, { key: platform.firstKey })).status).toBe(200);
  });

  it('mints no key where nobody is looking', async () => {
    const platform = await start({ interactive: false });
    expect(platform.firstKey).toBeUndefined();
    expect(platform.firstSignIn).toBeUndefined();
    const { count } = await (await asOwner(platform)).call('list_keys', {});
    expect(count).toBe(0);
  });

  it('writes what must stay private for its owner only', async () => {
    await start();
    for (const name of ['local-owner', 'node-id', 'patchbay.db']) {
      const { mode } = await stat(join(dataDir, name));
      expect((mode & 0o077).toString(8), name).toBe('0');
    }
  });
});

describe('every start', () => {
  it('gives the local command line a new token, gone when the platform stops', async () => {
    await start();
    const first = await readFile(join(dataDir, 'local-owner'), 'utf8');
    await stopAll();
    await expect(stat(join(dataDir, 'local-owner'))).rejects.toThrow('ENOENT');
    const platform = await start();
    expect(await readFile(join(dataDir, 'local-owner'), 'utf8')).not.toBe(first);
    const { token } = JSON.parse(first) as { token: string };
    expect((await rpc(platform.operatorUrl, 'tools/list', {}, { key: token })).status).toBe(401);
  });

  it('refuses a data folder another process works in, in one sentence', async () => {
    await start();
    await expect(start()).rejects.toThrow(
      /Another Patchbay process works in the data folder .*PATCHBAY_DATA_DIR/,
    );
  });

  it('refuses a wrong setting in one sentence that names it, and leaves the folder free', async () => {
    await expect(start({ env: { PATCHBAY_TURN_TIMEOUT_SECONDS: 'soon' } })).rejects.toThrow(
      /PATCHBAY_TURN_TIMEOUT_SECONDS is "soon"/,
    );
    await start();
  });

  it('lets the turns that run end before the platform stops', async () => {
    const platform = await start({ interactive: true });
    const call = callTool(
      platform.agentUrl('demo'),
      'demo',
      { message: 'show progress' },
      { key: platform.firstKey },
    );
    await new Promise(resolve => setTimeout(resolve, 100));
    await stopAll();
    expect((await call).body.result.content[0].text.length).toBeGreaterThan(0);
  });

  it('finds conversations and agents again', async () => {
    const first = await start();
    const { conversationId } = await (await asOwner(first)).call('chat_with_agent', {
      agentId: 'demo',
      message: 'hello',
    });
    await stopAll();
    const second = await asOwner(await start());
    const { log } = await second.call('read_conversation_log', { conversationId: conversationId! });
    expect(log).toContain('hello');
    expect((await second.call('list_agents', {})).agents).toMatchObject([
      { agentId: 'demo', agentVersion: 1 },
    ]);
  });
});

/** A client of the older eras that goes away when its call has begun; its turn goes on. */
async function leaveWhileRunning(url: string, key: string, args: Record<string, unknown>): Promise<void> {
  const sent = request(url, {
    method: 'POST',
    agent: false,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${key}`,
      'mcp-protocol-version': '2025-11-25',
    },
  });
  sent.end(
    JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'demo', arguments: args },
    }),
  );
  const [response] = await once(sent, 'response');
  expect(response.statusCode).toBe(200);
  response.destroy();
  await once(response, 'close');
}

describe.each(engines)('a stop on %s', engine => {
  it('waits for a turn whose client has gone: the next start has the message, and the conversation is free', async () => {
    await using database = engine === 'postgres' ? await newTestDatabase() : undefined;
    const log: string[] = [];
    const env: Record<string, string> = database ? { PATCHBAY_DATABASE_URL: database.url } : {};
    const first = await start({ interactive: true, env, log });
    const options = { key: first.firstKey };
    const demo = first.agentUrl('demo');
    const opened = await callTool(demo, 'demo', { message: 'hello' }, options);
    const { context_id } = opened.body.result.structuredContent;
    await leaveWhileRunning(demo, first.firstKey!, { message: 'show progress', context_id });
    await stopAll();
    expect(log.filter(line => /"level":"(warn|error)"/.test(line))).toEqual([]);

    const second = await start({ env });
    const owner = await asOwner(second);
    const state = await owner.call('read_conversation', { conversationId: context_id });
    expect(state).toMatchObject({ conversationState: 'READY' });
    const { log: said } = await owner.call('read_conversation_log', { conversationId: context_id });
    expect(said).toContain('User: show progress');
    const next = await callTool(second.agentUrl('demo'), 'demo', { message: 'hello', context_id }, options);
    expect(next.status).toBe(200);
  });
});

describe('on a PostgreSQL server', () => {
  it('is set up once by nodes that start at the same moment', async () => {
    await using database = await newTestDatabase();
    const folders = await Promise.all([1, 2, 3].map(() => mkdtemp(join(tmpdir(), 'patchbay-node-'))));
    const nodes = await Promise.all(
      folders.map(folder =>
        start({ env: { PATCHBAY_DATABASE_URL: database.url, PATCHBAY_DATA_DIR: folder } }),
      ),
    );
    expect(nodes.filter(node => node.firstStart)).toHaveLength(1);
    expect(new Set(nodes.map(node => node.platform.owner.id)).size).toBe(1);
    await stopAll();
    await Promise.all(folders.map(folder => rm(folder, { recursive: true })));
  });

  it('starts without another change, and two nodes share everything', async () => {
    await using database = await newTestDatabase();
    const env = { PATCHBAY_DATABASE_URL: database.url };
    const first = await start({ interactive: true, env });
    const other = await mkdtemp(join(tmpdir(), 'patchbay-node-'));
    const second = await start({ env: { ...env, PATCHBAY_DATA_DIR: other } });
    const options = { key: first.firstKey };
    const opened = await callTool(first.agentUrl('demo'), 'demo', { message: 'hello' }, options);
    const { context_id } = opened.body.result.structuredContent;
    const goneOn = await callTool(
      second.agentUrl('demo'),
      'demo',
      { message: 'hello again', context_id },
      options,
    );
    expect(goneOn.body.result.structuredContent.context_id).toBe(context_id);
    const hello = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'x', version: '1' },
    };
    const session = (await rpc(first.operatorUrl, 'initialize', hello, options)).headers.get(
      'mcp-session-id',
    )!;
    const list = await rpc(
      second.operatorUrl,
      'tools/list',
      {},
      { ...options, headers: { 'mcp-session-id': session } },
    );
    expect(list.status).toBe(200);
    await stopAll();
    await rm(other, { recursive: true });
  });
});
