// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { platforms } from '../doors/platforms.ts';
import { conversationWith, heardOf } from '../mcpcalls/talk.ts';
import { type Rig, rigOn, rigsOn } from './live-rig.ts';
import { type FaultServer, type Received, tool } from './servers/fault-server.ts';
import { faultServers } from './servers/fault-servers.ts';

const env = {
  PATCHBAY_EGRESS_PRIVATE_HOSTS: '127.0.0.1',
  PATCHBAY_VAULT_KEY: randomBytes(32).toString('hex'),
};
const { serverWith } = faultServers();

const handshakes = ({ received }: FaultServer) =>
  received.filter(({ method }) => method === 'initialize').map(({ headers }) => headers.authorization);
const goodbyes = ({ received }: FaultServer) =>
  received.filter(({ verb }) => verb === 'DELETE').map(({ headers }) => headers.authorization);
const isCall = (mark: string) => (request: Received) =>
  request.method === 'tools/call' && (request.params.arguments as { mark?: string }).mark === mark;

/** Holds calls with this mark until the test answers. */
function holding(server: FaultServer, mark: string): Promise<(text: string) => void> {
  return new Promise(resolve => {
    server.instead = (request: Received, response: ServerResponse) => {
      if (!isCall(mark)(request)) return false;
      resolve(text =>
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(
            JSON.stringify({ jsonrpc: '2.0', id: request.id, result: { content: [{ type: 'text', text }] } }),
          ),
      );
      return true;
    };
  });
}

describe.each(platforms)('Servers that are registered at $kind', ({ start }) => {
  let platform: TestPlatform;
  let rigs: readonly Rig[];
  let rig: Rig;
  beforeAll(async () => {
    platform = await start({ env });
    rigs = rigsOn(platform);
    rig = rigs[0]!;
  });
  afterAll(() => platform?.close());
  afterEach(async () => {
    for (const { definition, stored } of platform.platform.registry.list().servers)
      if (stored) await platform.platform.registry.remove(definition.ref);
  });
  /** On all nodes. */
  const all = async (look: (rig: Rig) => unknown) => {
    for (const one of rigs) await look(one);
  };

  it('connect each by itself: those that are down or hang fail neither the others nor turns, and are back when they are (W-10) (W-11) (W-53) (W-58) (W-106) (W-107) (W-108) (W-109) (A-187)', async () => {
    const [good, down, hung] = [await serverWith('call'), await serverWith('call'), await serverWith('call')];
    await down.kill();
    hung.instead = () => true;
    await rig.add('hung', { url: hung.url, connectTimeout: 1_500 });
    await rig.add('down', { url: down.url });
    await rig.add('good', { url: good.url });
    await all(async one => {
      await one.becomes('good', 'available');
      await one.becomes('down', 'unavailable');
      expect(one.health('down')).toMatchObject({ toolCount: 0, problem: { kind: 'SERVER_UNAVAILABLE' } });
      expect([await one.gauge('good'), await one.gauge('down'), await one.gauge('hung')]).toEqual([1, 0, 0]);
    });
    const call = { toolName: 'call', toolArguments: { mark: 'hello' } };
    const toGood = await rig.talker('good', { go: call });
    const toDown = await rig.talker('down', { go: call });
    const toHung = await rig.talker('hung', { go: call });
    const failed = { goError: { code: 'SERVER_UNAVAILABLE', sent: false } };
    const answers = await Promise.all([toHung('go'), toDown('go'), toGood('go')]);
    expect(answers).toMatchObject([failed, failed, { go: 'hello' }]);
    await all(one => one.becomes('hung', 'unavailable'));

    await down.start();
    hung.instead = () => false;
    await all(async one => {
      await one.becomes('down', 'available');
      await one.becomes('hung', 'available');
      expect(one.counts('down')).toEqual([0, 1]);
      expect(await one.gauge('down')).toBe(1);
    });
    await down.kill();
    await all(async one => {
      await one.becomes('down', 'unavailable');
      expect(one.counts('down')).toEqual([0, 1, 0]);
      expect(await one.gauge('down')).toBe(0);
    });
    await down.start();
    await all(async one => {
      await one.becomes('down', 'available');
      expect(one.counts('down')).toEqual([0, 1, 0, 1]);
      expect(one.counts('good')).toEqual([0, 1]);
    });
  });

  it('have other tools from the next turn on, and the same ones within a turn (W-20) (W-21)', async () => {
    const server = await serverWith('call', 'two');
    await rig.add('changing', { url: server.url });
    await all(one => one.becomes('changing', 'available'));
    await expect.poll(() => server.listeners).toBe(rigs.length);
    const say = await rig.talker('changing', {
      first: { toolName: 'call', toolArguments: { mark: 'first' } },
      second: { toolName: 'two', toolArguments: { mark: 'second' } },
      third: { toolName: 'new', toolArguments: { mark: 'third' } },
    });
    const held = holding(server, 'first');
    const turn = say('first second third');
    const answer = await held;
    server.tools = ['call', 'new'].map(tool);
    server.announce();
    await all(one => expect.poll(() => one.offered('changing')).toEqual(['call', 'new']));
    answer('first');
    expect(await turn).toMatchObject({
      first: 'first',
      second: 'second',
      thirdError: { code: 'TOOL_NOT_FOUND', sent: false },
    });
    expect(server.executions('third')).toBe(0);
    server.instead = () => false;
    expect(await say('second third')).toMatchObject({
      secondError: { code: 'TOOL_NOT_FOUND', sent: false },
      third: 'third',
    });
    expect(server.executions('second')).toBe(1);
    // As many as before, and others: that is told, too.
    await all(one => expect(one.counts('changing')).toEqual([0, 2, 2]));
  });

  it('may have tools of the same name (W-22)', async () => {
    const [one, other] = [await serverWith('call'), await serverWith('call')];
    await rig.add('one', { url: one.url });
    await rig.add('other', { url: other.url, prefix: 'second' });
    await rig.becomes('one', 'available');
    await rig.becomes('other', 'available');
    expect([rig.tools('one')[0]!.offeredAs, rig.tools('other')[0]!.offeredAs]).toEqual([
      'one__call',
      'second__call',
    ]);
    await rig.call('other', 'call', { mark: 'to the other' });
    expect([one.executions('to the other'), other.executions('to the other')]).toEqual([0, 1]);
  });

  it('are gone at once when they are removed: a call under way ends, no other begins, and nothing stays connected (W-52) (W-53)', async () => {
    const server = await serverWith('call');
    await rig.add('leaving', { url: server.url });
    await all(one => one.becomes('leaving', 'available'));
    await expect.poll(() => server.listeners).toBe(rigs.length);
    const last = rigs.at(-1)!;
    const say = await last.talker('leaving', {
      first: { toolName: 'call', toolArguments: { mark: 'first' } },
      second: { toolName: 'call', toolArguments: { mark: 'second' } },
    });
    const held = holding(server, 'first');
    const turn = say('first second');
    const answer = await held;
    await rig.remove('leaving');
    await all(async one => {
      await one.becomes('leaving', 'unknown');
      expect(one.tools('leaving')).toEqual([]);
      expect(await one.gauge('leaving')).toBeUndefined();
      expect(one.counts('leaving')).toEqual([0, 1, 0]);
    });
    answer('finished');
    expect(await turn).toMatchObject({
      first: 'finished',
      secondError: { code: 'SERVER_UNAVAILABLE', sent: false },
    });
    expect(server.executions('second')).toBe(0);
    await expect.poll(() => server.listeners).toBe(0);
    await expect.poll(() => goodbyes(server).length).toBe(rigs.length);
    expect(await say('second')).toMatchObject({
      secondError: { code: 'SERVER_UNAVAILABLE', message: expect.stringContaining('servers add leaving') },
    });
    expect(handshakes(server)).toHaveLength(rigs.length);
  });

  it('are connected anew with a secret that was rotated, and the old connection is closed (attack 20)', async () => {
    const server = await serverWith('call');
    await rig.client.call('put_secret', { name: 'rotating', value: 'old-value' });
    await rig.add('keyed', { url: server.url, headers: { authorization: 'Bearer ${vault:rotating}' } });
    await all(one => one.becomes('keyed', 'available'));
    expect(handshakes(server)).toEqual(rigs.map(() => 'Bearer old-value'));
    await rig.client.call('put_secret', { name: 'unrelated', value: 'something' });
    await rig.client.call('put_secret', { name: 'rotating', value: 'new-value' });
    await expect
      .poll(() => handshakes(server).slice(rigs.length))
      .toEqual(rigs.map(() => 'Bearer new-value'));
    await expect.poll(() => goodbyes(server)).toEqual(rigs.map(() => 'Bearer old-value'));
    await all(async one => {
      await one.becomes('keyed', 'available');
      const before = server.received.length;
      expect(await one.call('keyed', 'call', { mark: 'with the new one' })).toMatchObject({
        kind: 'answered',
        text: 'with the new one',
      });
      const sent = server.received.slice(before);
      expect(sent.filter(isCall('with the new one'))).not.toEqual([]);
      expect(new Set(sent.map(({ headers }) => headers.authorization))).toEqual(
        new Set(['Bearer new-value']),
      );
    });
  });

  it('have company: a document with an address and a key leaves its old connection with the next call, too (attack 20)', async () => {
    const server = await serverWith('call');
    await rig.client.call('put_secret', { name: 'of-document', value: 'old-value' });
    const conversation = await conversationWith(rig.client, {
      mcpServerUrl: server.url,
      apiKey: '${vault:of-document}',
      mcpCalls: [{ name: 'go', toolName: 'call', toolArguments: { mark: 'called' } }],
    });
    expect(await heardOf(rig.client, conversation, 'go')).toEqual({ answer: 'called' });
    await rig.client.call('put_secret', { name: 'of-document', value: 'new-value' });
    expect(await heardOf(rig.client, conversation, 'go')).toEqual({ answer: 'called' });
    await expect.poll(() => goodbyes(server)).toEqual(['Bearer old-value']);
    expect(handshakes(server)).toEqual(['Bearer old-value', 'Bearer new-value']);
  });

  it('are down without their secret and come by themselves when it is added; variables move them elsewhere', async () => {
    const server = await serverWith('call');
    const opened = () =>
      server.received.filter(({ method }) => method === 'initialize').map(({ path }) => path);
    await rig.client.call('put_variable', { name: 'place', value: 'here' });
    await rig.add('wanting', {
      url: server.url.replace('mcp', '${vars:place}'),
      headers: { authorization: 'Bearer ${vault:wanted}' },
    });
    await all(async one => {
      await one.becomes('wanting', 'unavailable');
      expect(one.health('wanting').problem).toMatchObject({
        kind: 'AUTHENTICATION_FAILED',
        message:
          '${vault:wanted} cannot be resolved: there is no secret of that name; store it with `npx patchbay secrets set wanted`.',
        retryAt: expect.any(Number),
      });
    });
    expect(server.received).toEqual([]);
    await rig.client.call('put_secret', { name: 'wanted', value: 'sesame' });
    await all(one => one.becomes('wanting', 'available'));
    expect(handshakes(server)).toEqual(rigs.map(() => 'Bearer sesame'));
    await rig.client.call('put_variable', { name: 'place', value: 'there' });
    await expect.poll(opened).toEqual([...rigs.map(() => '/here'), ...rigs.map(() => '/there')]);
    await expect.poll(() => goodbyes(server)).toHaveLength(rigs.length);
    await all(one => one.becomes('wanting', 'available'));
    await rig.client.call('delete_secret', { name: 'wanted' });
    await all(one => one.becomes('wanting', 'unavailable'));
    await expect.poll(() => goodbyes(server)).toHaveLength(2 * rigs.length);
  });

  it('are connected anew when their transport is another, and not when anything else is', async () => {
    const [one, other] = [await serverWith('call', 'two'), await serverWith('other')];
    await rig.add('edited', { url: one.url });
    await all(each => each.becomes('edited', 'available'));
    await rig.add('edited', { url: one.url, only: ['two'] }, { replace: true });
    await all(each => expect.poll(() => each.offered('edited')).toEqual(['two']));
    expect(handshakes(one)).toHaveLength(rigs.length);
    await rig.add('edited', { url: other.url }, { replace: true });
    await all(each => expect.poll(() => each.offered('edited')).toEqual(['other']));
    await expect.poll(() => goodbyes(one)).toHaveLength(rigs.length);
    expect(handshakes(other)).toHaveLength(rigs.length);
  });

  it('get more time to connect as soon as they are given it', async () => {
    const server = await serverWith();
    server.instead = () => true;
    const problem = (one: Rig) => one.health('slow').problem?.message;
    for (const connectTimeout of [300, 400]) {
      await rig.add('slow', { url: server.url, connectTimeout }, { replace: true });
      await all(one => expect.poll(() => problem(one)).toContain(`within ${connectTimeout} ms`));
    }
  });

  it('share a connection where two names of one instance stand for the same endpoint, and it stays for the one that stays', async () => {
    const server = await serverWith('call', 'two');
    await rig.add('twin-a', { url: server.url });
    await rig.add('twin-b', { url: server.url, except: ['two'] });
    await all(async one => {
      await one.becomes('twin-a', 'available');
      await one.becomes('twin-b', 'available');
      expect([one.offered('twin-a'), one.offered('twin-b')]).toEqual([['call', 'two'], ['call']]);
    });
    await rig.remove('twin-a');
    await all(one => one.becomes('twin-a', 'unknown'));
    expect(await rig.call('twin-b', 'call', { mark: 'still there' })).toMatchObject({ kind: 'answered' });
    expect(handshakes(server)).toHaveLength(rigs.length);
    expect(goodbyes(server)).toEqual([]);
  });

  it('are degraded where something is missing that is counted on, which is known before any call and keeps none from being made (A-46) (A-47) (A-48) (A-49) (A-50) (A-51) (A-52)', async () => {
    const server = await serverWith('call');
    const schema = { type: 'object', properties: { a: {}, b: {} }, required: ['a'] };
    server.tools = [
      tool('call'),
      { name: 'strict', inputSchema: schema },
      { name: 'open', inputSchema: { ...schema, additionalProperties: true } },
    ];
    await rig.add('partial', {
      url: server.url,
      expect: ['gone', { name: 'strict', arguments: ['b', 'c'] }, { name: 'open', arguments: ['a', 'c'] }],
    });
    const shortcomings = [
      'The server has no tool "gone".',
      'The tool "strict" requires the argument "a", which is not given.',
      'The tool "strict" does not know the argument "c".',
    ];
    await all(async one => {
      await one.becomes('partial', 'degraded');
      expect(one.health('partial')).toMatchObject({ toolCount: 3, shortcomings, problem: undefined });
      expect(one.warnings('An MCP server does not have all that is expected of it')).toMatchObject([
        { server: 'default/partial', shortcomings },
      ]);
    });
    expect(server.received.filter(({ method }) => method === 'tools/call')).toEqual([]);
    const say = await rig.talker('partial', { go: { toolName: 'call', toolArguments: { mark: 'used' } } });
    expect(await say('go')).toEqual({ go: 'used' });
    server.tools = [...server.tools, tool('gone')];
    server.tools[1] = {
      name: 'strict',
      inputSchema: { ...schema, required: [], properties: { b: {}, c: {} } },
    };
    server.announce();
    await all(one => one.becomes('partial', 'available'));
  });
});

describe('A registered server', () => {
  let folder: string;
  let platform: TestPlatform | undefined;
  afterEach(async () => {
    await platform?.close();
    platform = undefined;
    await rm(folder, { recursive: true, force: true });
  });
  async function start(): Promise<Rig> {
    folder ??= await mkdtemp(join(tmpdir(), 'patchbay-registered-'));
    platform = await startTestPlatform({ env, dataDir: folder });
    return rigOn(platform);
  }

  it('that hangs, and a hundred that are down, hold up no start (W-11) (W-61)', async () => {
    const [good, hung] = [await serverWith('call'), await serverWith()];
    hung.instead = () => true;
    const before = await start();
    for (let n = 0; n < 100; n++)
      await before.add(`down-${n}`, { url: `http://127.0.0.1:1/${n}`, gated: false });
    await before.add('hung', { url: hung.url, connectTimeout: 3_600_000 });
    await before.add('last', { url: good.url });
    await platform!.close();
    const after = await start();
    await after.becomes('last', 'available');
    await after.becomes('down-99', 'unavailable');
    expect(after.health('hung').state).toBe('unknown');
    expect(await after.call('last', 'call', { mark: 'used' })).toMatchObject({ text: 'used' });
  });

  it('is asked about at every start of a connection: refused, it is down and tried again (W-63) (W-67) (W-68)', async () => {
    const server = await serverWith('call');
    const rig = await start();
    const asked: string[] = [];
    let refusal: string | undefined;
    const check = (url: string) => {
      asked.push(url);
      return refusal;
    };
    const { registry } = platform!.platform;
    registry.configure({ default: { servers: { own: { url: server.url } }, check, source: 'code' } });
    await rig.becomes('own', 'available');
    expect(asked).toEqual([server.url]);
    refusal = 'it moved to a bad place';
    await server.kill();
    await server.start();
    await rig.becomes('own', 'unavailable');
    await expect
      .poll(() => rig.health('own').problem)
      .toMatchObject({
        kind: 'SERVER_UNAVAILABLE',
        message: `${server.url} can't be reached: it moved to a bad place`,
      });
    expect(rig.health('own').toolCount).toBe(0);
    expect(await rig.call('own', 'call', { mark: 'never' })).toMatchObject({ kind: 'failed', reached: 'no' });
    expect(handshakes(server)).toHaveLength(1);
    refusal = undefined;
    await rig.becomes('own', 'available');
    expect(handshakes(server)).toHaveLength(2);
    expect(server.executions('never')).toBe(0);
  });

  it('cannot lead past the check by a redirect (W-69) (attack 32)', async () => {
    const [server, elsewhere] = [await serverWith('call'), await serverWith('call')];
    const rig = await start();
    const check = (url: string) => (url === elsewhere.url ? 'not that one' : undefined);
    const moved = await serverWith();
    moved.instead = (_, response) => response.writeHead(307, { location: elsewhere.url }).end();
    platform!.platform.registry.configure({
      default: { servers: { own: { url: server.url }, moved: { url: moved.url } }, check, source: 'code' },
    });
    await rig.becomes('own', 'available');
    await rig.becomes('moved', 'unavailable');
    for (const status of [301, 302, 303, 307, 308]) {
      server.instead = (request, response) => {
        if (request.method !== 'tools/call') return false;
        response.writeHead(status, { location: elsewhere.url }).end();
        return true;
      };
      expect(await rig.call('own', 'call', { mark: 'led away' })).toMatchObject({ kind: 'failed' });
      await rig.becomes('own', 'available');
    }
    expect(elsewhere.received).toEqual([]);
  });

  it('of one instance shares no connection with the same endpoint of another (W-02)', async () => {
    const server = await serverWith('call');
    const rig = await start();
    const servers = { crm: { url: server.url } };
    const instance = { servers, check: undefined, source: 'data' as const };
    platform!.platform.registry.configure({ default: instance, sales: instance });
    await rig.becomes('crm', 'available');
    await rig.becomes('crm', 'available', 'sales');
    expect(handshakes(server)).toHaveLength(2);
    expect(await rig.gauge('crm')).toBe(1);
    expect(await rig.gauge('crm', 'sales')).toBe(1);
  });
});
