import { ClientError } from '@patchbay/contract/client';
import { describe, expect, it } from 'vitest';
import { configuredPlatform } from '../configuration/configured-platform.ts';
import { toolCallingAgent } from '../mcpcalls/calling-agent.ts';
import { conversationWith, heardOf } from '../mcpcalls/talk.ts';
import { DISCOVERED, type ScriptedServer, startScriptedServer } from './servers/scripted-server.ts';

const on = configuredPlatform();
const { start, write } = on;

const names = async (instance = 'default') =>
  (await on.client.call('list_servers', { instance })).servers.map(({ name }) => name);
const stateOf = async (name: string, instance = 'default') =>
  (await on.client.call('read_server', { name, instance })).state;
const messages = (level: string) =>
  on.platform
    .logLines()
    .filter(line => line.level === level)
    .map(line => String(line.message));
const refusal = (promise: Promise<unknown>) =>
  promise.then(
    () => 'it was done',
    (error: unknown) => (error instanceof ClientError ? error.message : String(error)),
  );

const server = () =>
  startScriptedServer(({ method }) => {
    const listed = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
    const tools = [{ name: 'search', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }];
    const content = [{ type: 'text', text: 'found' }];
    const results: Record<string, unknown> = {
      'server/discover': DISCOVERED,
      'tools/list': { ...listed, tools },
      'tools/call': { resultType: 'complete', content },
    };
    return { result: results[method] };
  });
const discoveries = ({ heard }: ScriptedServer) =>
  heard.filter(({ method }) => method === 'server/discover').length;

describe('servers of the configuration file', () => {
  it('are there from the start, each in its instance (W-01) (W-02) (W-60)', async () => {
    await using one = await server();
    await write({
      servers: { one: { url: one.url } },
      instances: { sales: { servers: { crm: { url: one.url } } } },
    });
    await start();
    expect(await names()).toEqual(['one']);
    expect(await names('sales')).toEqual(['crm']);
    await expect.poll(() => stateOf('one')).toBe('available');
    await expect.poll(() => stateOf('crm', 'sales')).toBe('available');
    expect(await on.client.call('read_server', { name: 'one' })).toMatchObject({
      source: 'configuration',
      toolCount: 1,
    });
    expect(await refusal(on.client.call('remove_server', { name: 'one' }))).toContain(
      'is a server of the configuration',
    );
    expect(await refusal(on.client.call('add_server', { name: 'one', options: { url: one.url } }))).toContain(
      'has a server default/one already',
    );
  });

  it('are what agents refer to, by the names of instance and server (W-01)', async () => {
    await using one = await server();
    await write({ instances: { sales: { servers: { crm: { url: one.url } } } } });
    await start();
    await on.client.call('deploy_agent_file', {
      file: toolCallingAgent('caller', {
        mcpServerUrl: 'patchbay:servers/sales/crm',
        mcpCalls: [{ name: 'search', toolName: 'search' }],
      }),
    });
    const { conversationId } = await on.client.call('create_conversation', { agentId: 'caller' });
    const turn = { agentId: 'caller', conversationId: conversationId!, message: 'search' };
    const { agentResponse } = await on.client.call('talk_to_agent', turn);
    expect(JSON.parse(agentResponse!)).toEqual({ answer: 'found' });
    expect(one.heard.filter(({ method }) => method === 'tools/call')).toHaveLength(1);
  });

  it('stop the start where they are wrong, with a sentence that names the option (W-42)', async () => {
    await write({ servers: { one: { url: 'https://a.example', timeot: 5 } } });
    await expect(start()).rejects.toThrow('Server one: timeot is no option; did you mean timeout.');
  });

  it('change with the file: what is the same stays connected, what is wrong changes nothing', async () => {
    await using one = await server();
    await using two = await server();
    await write({ servers: { one: { url: one.url } } });
    await start();
    await expect.poll(() => stateOf('one')).toBe('available');
    const connected = discoveries(one);

    await write({ servers: { one: { url: one.url }, two: { url: two.url } } });
    await expect.poll(() => names(), { timeout: 10_000 }).toEqual(['one', 'two']);
    await expect.poll(() => stateOf('two')).toBe('available');

    await write({ servers: { one: { url: one.url, colour: 1 } } });
    await expect
      .poll(() => messages('error'), { timeout: 10_000 })
      .toContainEqual(
        expect.stringMatching(
          /^The configuration file changed and is not used, all stays as it was: Server one: colour is no option;/,
        ),
      );
    expect(await names()).toEqual(['one', 'two']);

    await write({ servers: { one: { url: one.url, prefix: 'renamed' } }, port: 1 });
    await expect.poll(() => names(), { timeout: 10_000 }).toEqual(['one']);
    const { tools } = await on.client.call('list_server_tools', { name: 'one' });
    expect(tools.map(({ offeredAs }) => offeredAs)).toEqual(['renamed__search']);
    expect(messages('warn')).toContain(
      'Settings in the configuration file changed and wait for the next start: port',
    );
    expect(discoveries(one)).toBe(connected);
  });

  it('may come with functions: a cost, and a check that is asked at each start of a connection (W-34) (W-63) (W-67) (W-68)', async () => {
    await using one = await server();
    await write(
      `export default {
        check: (url: string) => (url.includes('refused') ? 'it is not on our list' : undefined),
        servers: {
          one: { url: '${one.url}', cost: (result: { content: unknown[] }) => ({ usd: result.content.length }) },
          two: { url: '${one.url}/refused' },
          fixed: { url: '${one.url}?fixed', cost: { usd: 0.25 } },
          three: { command: process.execPath, args: ['-e', ''] },
        },
        log: { level: 'debug' },
      };`,
      'patchbay.config.ts',
    );
    await start();
    await expect.poll(() => stateOf('one')).toBe('available');
    await expect.poll(() => stateOf('two')).toBe('unavailable');
    // Each further try asks again.
    const says = async () => (await on.client.call('read_server', { name: 'two' })).says;
    await expect.poll(says, { timeout: 10_000 }).toMatch(/is down after \d tries/);
    const two = await on.client.call('read_server', { name: 'two' });
    expect(two.says).toContain(`${one.url}/refused can't be reached: it is not on our list`);
    expect(two).toMatchObject({ toolCount: 0, retryOn: expect.any(Number) });
    expect(await on.client.call('read_server', { name: 'one' })).toMatchObject({
      options: { cost: '(a function)' },
    });
    expect(await names()).toEqual(['fixed', 'one', 'three', 'two']);
    expect(
      await refusal(on.client.call('add_server', { name: 'four', options: { command: 'npx' } })),
    ).toContain('default/four is a command');
    for (const name of ['one', 'fixed', 'fixed'])
      await on.client.call('call_server_tool', { name, tool: 'search' });
    const metrics = await (
      await fetch(`${on.platform.url}/metrics`, {
        headers: { authorization: `Bearer ${on.platform.ownerToken}` },
      })
    ).text();
    expect(metrics).toMatch(/usd[^\n]*server="default\/one"[^\n]* 1\n/);
    expect(metrics).toMatch(/usd[^\n]*server="default\/fixed"[^\n]* 0\.5\n/);
  });

  it('get a check that is added later at the next start of their connections (W-63)', async () => {
    const script = (check: string, url: string) =>
      `export default { ${check} servers: { one: { url: '${url}' } } };`;
    const one = await server();
    await write(script('', one.url), 'patchbay.config.ts');
    await start();
    await expect.poll(() => stateOf('one')).toBe('available');
    await write(script(`check: () => 'it is closed',`, one.url), 'patchbay.config.ts');
    await expect
      .poll(() => messages('info'), { timeout: 10_000 })
      .toContain('The configuration file was read again');
    await one[Symbol.asyncDispose]();
    await on.client.call('call_server_tool', { name: 'one', tool: 'search' });
    const says = async () => (await on.client.call('read_server', { name: 'one' })).says;
    await expect.poll(says, { timeout: 10_000 }).toContain(`${one.url} can't be reached: it is closed`);
  });

  it('are not the only ones that a check is asked about: documents of agents do not get around it (W-63)', async () => {
    await using one = await server();
    await write(`export default { check: () => 'it is closed' };`, 'patchbay.config.ts');
    await start();
    const conversation = await conversationWith(on.client, {
      mcpServerUrl: one.url,
      mcpCalls: [{ name: 'search', toolName: 'search' }],
    });
    expect(await heardOf(on.client, conversation, 'search')).toMatchObject({
      answerError: { code: 'SERVER_UNAVAILABLE', message: `${one.url} can't be reached: it is closed` },
    });
    expect(await refusal(on.client.call('discover_mcp_tools', { url: one.url }))).toContain(
      `${one.url} can't be reached: it is closed.`,
    );
    expect(one.heard).toEqual([]);
  });
});
