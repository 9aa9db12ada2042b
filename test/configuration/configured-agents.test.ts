import { type ScriptedModel, startScriptedModel } from '@patchbay/testing/scripted-model';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startToolServer, type ToolServer } from '../mcpcalls/tool-server.ts';
import { configuredPlatform } from './configured-platform.ts';

let model: ScriptedModel;
let toolServer: ToolServer;
const on = configuredPlatform();
const { start, write } = on;

beforeAll(async () => {
  [model, toolServer] = await Promise.all([startScriptedModel(), startToolServer('legacy')]);
});
afterAll(async () => {
  await Promise.all([model, toolServer].map(one => one?.[Symbol.asyncDispose]()));
});

const helper = (more: object = {}) => ({
  ...{ agentId: 'helper', model: 'openai-compatible:any', baseUrl: model.baseUrl('chat-completions') },
  ...more,
});
const say = async (message: string, agentId = 'helper') =>
  (await on.client.call('chat_with_agent', { agentId, message })).agentResponse;
const deployed = async () => {
  const { agents } = await on.client.call('list_agents', {});
  return agents
    .filter(({ agentId }) => agentId !== 'demo')
    .map(agent => `${agent.agentId} ${agent.agentVersion}`);
};
const errors = () => on.platform.logLines().filter(({ level }) => level === 'error');

describe('agents of the configuration file', () => {
  it('are there from the start, with the tools of exactly the servers that they name in an instance (W-14) (W-15)', async () => {
    const options = { url: toolServer.url };
    await write({
      servers: { one: options, two: options },
      instances: { sales: { servers: { crm: options, other: options } } },
      agents: [
        helper({ capabilities: [{ servers: ['one'] }, { mcp: 'sales', servers: ['crm'] }] }),
        { agent_id: 'alone', model: 'openai-compatible:any', base_url: model.baseUrl('chat-completions') },
      ],
    });
    await start();
    expect(await deployed()).toEqual(['alone 1', 'helper 1']);
    model.play(() => ({ text: 'Here.' }));
    expect(await say('Hello')).toBe('Here.');
    expect(await say('Hello', 'alone')).toBe('Here.');
    await expect
      .poll(async () => {
        await say('Hello');
        const { tools } = model.requests.at(-1)!;
        return [...new Set(tools.map(({ name }) => name.split('__')[0]))];
      })
      .toEqual(['one', 'crm']);
    const { events } = await on.client.call('list_audit_events', {});
    expect(events).toContainEqual(
      expect.objectContaining({
        operation: 'deploy_agent_file',
        via: 'start',
        subject: { agentId: 'helper' },
      }),
    );
  });

  it('stay as they are at the next start, and change with the file', async () => {
    await write({ agents: [helper({ systemMessage: 'You are one.' })] });
    await start();
    await on.platform.close();
    await start();
    expect(await deployed()).toEqual(['helper 1']);
    await write({ agents: [helper({ systemMessage: 'You are two.' }), helper({ agentId: 'second' })] });
    await expect.poll(deployed).toEqual(['helper 2', 'second 1']);
    model.play([{ text: 'Yes.' }]);
    await say('Hello');
    expect(model.requests[0]!.system).toBe('You are two.');
  });

  it('leave all as it was where one of them is wrong, and the log says where', async () => {
    await write({ agents: [helper({ systemMessage: 'You are one.' })] });
    await start();
    const broken = { agentId: 'broken', model: 'ollama', systemMessage: '{{ broken' };
    await write({ servers: { one: { url: toolServer.url } }, agents: [helper(), broken] });
    await expect.poll(() => errors().length).toBe(1);
    expect(errors()[0]!.message).toMatch(/all stays as it was: .*systemMessage/);
    expect(await deployed()).toEqual(['helper 1']);
    expect((await on.client.call('list_servers', {})).servers).toEqual([]);
  });

  it('may come from a program, and ask for the key of their provider by its name', async () => {
    await write(
      `export default { agents: [{ agentId: 'helper', model: 'openai:any', baseUrl: ${JSON.stringify(model.baseUrl('chat-completions'))} }] };`,
      'patchbay.config.ts',
    );
    await start();
    await on.client.call('put_secret', { name: 'openai', value: 'not a real key' });
    model.play([{ text: 'Yes.' }]);
    expect(await say('Hello')).toBe('Yes.');
    expect(model.requests[0]!.key).toBe('not a real key');
  });

  it('wait for a secret that is for other agents, and the platform starts', async () => {
    await start();
    await on.client.call('put_secret', { name: 'openai', value: 'not a real key', allowedAgents: ['demo'] });
    await on.platform.close();
    await write({ agents: [{ agentId: 'helper', model: 'openai:any' }] });
    await start();
    expect(errors().map(({ message }) => message)).toEqual([
      expect.stringMatching(
        /^The agents of the configuration stay as they were: .*secrets set openai --keep-value/,
      ),
    ]);
    expect(await deployed()).toEqual([]);
  });

  it.each([
    [{ agentId: 'a b' }, 'agents[0] in patchbay.config.json: field "agentId" at $.agentId'],
    [
      { agentId: 'helper', modle: 'x' },
      'field "modle" at $.modle is unknown (known fields there: agentId, model,',
    ],
    [
      { agentId: 'helper', model: 'antropic:x' },
      'There is no provider "antropic"; did you mean "anthropic"?',
    ],
    [
      { agentId: 'helper', model: 'ollama', capabilities: [{ server: 'x' }] },
      'field "server" at $.capabilities[0].server is unknown (known fields there: mcp, servers)',
    ],
    [{ agentId: 'helper', model: 'ollama', toolPolicy: [{ else: 'maybe' }] }, 'toolPolicy'],
    ['helper', 'agents[0] in patchbay.config.json: the whole value is not valid'],
  ])('stop the start where they are wrong, with the path: %j', async (agent, sentence) => {
    await write({ agents: [agent] });
    await expect(start()).rejects.toThrow(sentence);
  });

  it('have an id of their own each', async () => {
    await write({ agents: [helper(), helper()] });
    await expect(start()).rejects.toThrow(
      'agents[1] in patchbay.config.json: the agentId helper is there twice',
    );
  });
});
