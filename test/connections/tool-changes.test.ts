import type { ServerResponse } from 'node:http';
import { describe, expect, it, vi } from 'vitest';
import type { Connection } from '../../packages/server/src/connections/session/connection.ts';
import { createManualClock } from '../manual-clock.ts';
import { connectTo, newMark } from './fault-rig.ts';
import { type FaultServer, type Received, tool } from './servers/fault-server.ts';
import { ERAS, faultServers } from './servers/fault-servers.ts';

const { start } = faultServers();

const names = ({ listed }: Connection) => listed?.map(one => (one as { name: string }).name);

/** Resolves when a reader, told of a change, sees these tools. */
function sees(connection: Connection, expected: readonly string[]): Promise<void> {
  return new Promise(resolve => {
    const look = () => {
      if (JSON.stringify(names(connection)) !== JSON.stringify(expected)) return;
      stop();
      resolve();
    };
    const stop = connection.subscribe(look);
    look();
  });
}

const lists = ({ received }: FaultServer) => received.filter(({ method }) => method === 'tools/list').length;

/** Answers `tools/list` with this instead. */
function listing(answer: (request: Received, response: ServerResponse) => object | undefined) {
  return (request: Received, response: ServerResponse) => {
    if (request.method !== 'tools/list') return false;
    const result = answer(request, response);
    if (result)
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id: request.id, result }));
    return true;
  };
}

describe.each(ERAS)('The tools of a server of the %s era', era => {
  it('are read again when it announces that they changed (W-20)', async () => {
    const server = await start(era);
    await using rig = connectTo(server);
    await rig.connection.ready();
    await vi.waitFor(() => expect(server.listeners).toBe(1), 10_000);
    expect(names(rig.connection)).toEqual(['call']);
    server.tools = [tool('call'), tool('new')];
    server.announce();
    await sees(rig.connection, ['call', 'new']);
    server.tools = [tool('new')];
    server.announce();
    await sees(rig.connection, ['new']);
  });

  it('are read again when they change while a call runs (W-20)', async () => {
    const server = await start(era);
    await using rig = connectTo(server);
    await rig.connection.ready();
    await vi.waitFor(() => expect(server.listeners).toBe(1), 10_000);
    const mark = newMark();
    expect(await rig.call('changed tools', { mark })).toEqual({ text: mark });
    await sees(rig.connection, ['call', `added ${mark}`]);
    expect(server.executions(mark)).toBe(1);
  });

  it('are read every five minutes, announced or not (EX-03)', async () => {
    const server = await start(era);
    const clock = createManualClock();
    await using rig = connectTo(server, { clock, random: () => 0 });
    server.hasStream = false;
    await rig.connection.ready();
    server.tools = [tool('quietly')];
    await clock.advance(299_999);
    await clock.advance(1);
    expect(lists(server)).toBe(1);
    await clock.advance(200);
    await sees(rig.connection, ['quietly']);
    expect(lists(server)).toBe(2);
    server.tools = [];
    // Whoever waits for the next five minutes has begun to, then.
    await clock.advance(0);
    await clock.advance(300_000);
    await clock.advance(2_000);
    await sees(rig.connection, []);
  });

  it('are read again when the stream of announcements broke and stands again', async () => {
    const server = await start(era);
    await using rig = connectTo(server);
    await rig.connection.ready();
    await vi.waitFor(() => expect(server.listeners).toBe(1), 10_000);
    server.tools = [tool('meanwhile')];
    server.endStreams();
    await sees(rig.connection, ['meanwhile']);
    await vi.waitFor(() => expect(server.listeners).toBe(1), 10_000);
    server.tools = [tool('later')];
    server.announce();
    await sees(rig.connection, ['later']);
  });

  it('as told last are the newest, also when a change is announced while the list is read', async () => {
    const server = await start(era);
    await using rig = connectTo(server);
    await rig.connection.ready();
    await vi.waitFor(() => expect(server.listeners).toBe(1), 10_000);
    const old = new Promise<() => void>(resolve => {
      server.instead = listing((request, response) => {
        server.instead = () => false;
        resolve(() =>
          response
            .writeHead(200, { 'content-type': 'application/json' })
            .end(JSON.stringify({ jsonrpc: '2.0', id: request.id, result: { tools: [tool('old')] } })),
        );
        return undefined;
      });
    });
    server.announce();
    const answerOld = await old;
    server.tools = [tool('new')];
    server.announce();
    // By the time something else announced has been heard, this has, too.
    await rig.call();
    answerOld();
    await sees(rig.connection, ['new']);
    expect(names(rig.connection)).toEqual(['new']);
  });

  it('are not read each time by a server that announces without end', async () => {
    const server = await start(era);
    await using rig = connectTo(server);
    await rig.connection.ready();
    await vi.waitFor(() => expect(server.listeners).toBe(1), 10_000);
    for (let n = 0; n < 1_000; n++) {
      server.announce();
      if (n % 10 === 0) await rig.call();
    }
    server.tools = [tool('at last')];
    server.announce();
    await sees(rig.connection, ['at last']);
    expect(lists(server)).toBeLessThan(10);
  });

  it('stay as they were when the server fails to list them again, and it is used as before', async () => {
    const server = await start(era);
    await using rig = connectTo(server);
    await rig.connection.ready();
    await vi.waitFor(() => expect(server.listeners).toBe(1), 10_000);
    server.instead = listing(() => ({ tools: 'none' }));
    const before = lists(server);
    server.announce();
    await vi.waitFor(() => expect(lists(server)).toBe(before + 1), 10_000);
    const mark = newMark();
    expect(await rig.call('none', { mark })).toEqual({ text: mark });
    expect(names(rig.connection)).toEqual(['call']);
    expect(rig.connection.trouble).toBeUndefined();
  });

  it('tell that a server is gone: it is down before anybody calls it (W-11)', async () => {
    const server = await start(era);
    await using rig = connectTo(server);
    await rig.connection.ready();
    await vi.waitFor(() => expect(server.listeners).toBe(1), 10_000);
    await server.kill();
    await vi.waitFor(() => expect(rig.connection.trouble).toBeDefined(), 10_000);
    expect(rig.connection.trouble!.error).toMatchObject({ kind: 'SERVER_UNAVAILABLE', reached: 'no' });
  });

  it('tell that a server hangs: one that does not list them in time is down, also when nobody calls it (W-11)', async () => {
    const server = await start(era);
    const clock = createManualClock();
    await using rig = connectTo(server, { clock, random: () => 0, connectTimeoutMs: 30_000 });
    await rig.connection.ready();
    const hangs = new Promise<void>(resolve => {
      server.instead = ({ method }) => {
        if (method !== 'tools/list') return false;
        resolve();
        return true;
      };
    });
    await clock.advance(300_000);
    await clock.advance(200);
    await hangs;
    expect(rig.connection.trouble).toBeUndefined();
    await clock.advance(30_000);
    expect(rig.connection.trouble!.error).toMatchObject({ kind: 'TIMEOUT' });
    expect(names(rig.connection)).toEqual(['call']);
  });

  it('on many pages are all read, and the empty text is a cursor', async () => {
    const server = await start(era);
    const pages = ['', 'b', undefined];
    let page = 0;
    server.instead = listing(({ params }) => {
      if (params.cursor === undefined) page = 0;
      return { tools: [tool(`tool ${page}`)], nextCursor: pages[page++] };
    });
    await using rig = connectTo(server);
    await rig.connection.ready();
    expect(names(rig.connection)).toEqual(['tool 0', 'tool 1', 'tool 2']);
  });

  it.each([
    ['has more than 200 pages', 1, 's'],
    ['has more than 20000 tools', 500, 's'],
    ['is longer than 16777216 characters', 1, 's'.repeat(1_000_000)],
  ])('without end are given up: the list %s (attack 39)', async (why, count, padding) => {
    const server = await start(era);
    const tools = Array.from({ length: count }, (_, n) => tool(`${n}${padding}`));
    server.instead = listing(() => ({ tools, nextCursor: 'again' }));
    await using rig = connectTo(server);
    await expect(rig.connection.ready()).rejects.toMatchObject({
      kind: 'SERVER_UNAVAILABLE',
      message: `its list of tools ${why}`,
    });
    expect(lists(server)).toBeLessThanOrEqual(200);
  });
});
