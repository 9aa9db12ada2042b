import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createClient, type Client as RestClient } from '@patchbay/contract/client';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { type ScriptedModel, startScriptedModel } from '@patchbay/testing/scripted-model';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startToolServer, type ToolServer } from '../mcpcalls/tool-server.ts';
import { allEvents } from '../rest/event-stream.ts';
import { WAYS, type Way } from './rig.ts';

const ways = WAYS.filter(({ own }) => own !== true);

const agentOf = ({ provider, wire }: Way, model: ScriptedModel, toolServer: ToolServer) => ({
  agent: `on-${provider}-${wire}`,
  name: 'Helper',
  description: 'Helps.',
  mcp_enabled: true,
  llm: {
    tasks: [
      {
        id: 'main',
        type: provider,
        parameters: {
          ...{ model: 'any', apiKey: `\${vault:model-key}`, baseUrl: model.baseUrl(wire) },
          systemMessage: 'You help.',
        },
      },
    ],
  },
  mcpcalls: { mcpServerUrl: toolServer.url, toolsWhitelist: ['echo'] },
});

describe('an agent with a model at its doors', () => {
  let platform: TestPlatform;
  let rest: RestClient;
  let model: ScriptedModel;
  let toolServer: ToolServer;
  beforeAll(async () => {
    [model, toolServer] = await Promise.all([startScriptedModel(), startToolServer('legacy')]);
    platform = await startTestPlatform({ env: { PATCHBAY_EGRESS_PRIVATE_HOSTS: '127.0.0.1' } });
    rest = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
    await rest.call('put_secret', { name: 'model-key', value: 'sk-of-the-model' });
    for (const way of ways) await rest.call('deploy_agent_file', { file: agentOf(way, model, toolServer) });
  });
  afterAll(async () => {
    await platform?.close();
    await Promise.all([model, toolServer].map(one => one?.[Symbol.asyncDispose]()));
  });

  const clientAt = async (url: string) => {
    const client = new Client({ name: 'test', version: '1.0.0' });
    const headers = { authorization: `Bearer ${platform.operatorKey}` };
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
    return client;
  };

  it.each(ways)(
    'by $name answers with what a tool said, word by word as progress at both doors',
    async way => {
      const agentId = `on-${way.provider}-${way.wire}`;
      const script = [
        { calls: [{ name: 'echo', input: { word: 'tea' } }] },
        { text: ['The tool ', 'said ', 'tea.'] },
      ];
      const doors = [
        { url: platform.agentUrl(agentId), name: agentId, args: { message: 'Ask the tool.' } },
        { url: platform.operatorUrl, name: 'chat_with_agent', args: { agentId, message: 'Ask the tool.' } },
      ];
      for (const { url, name, args } of doors) {
        model.play(script);
        const client = await clientAt(url);
        const heard: string[] = [];
        const result = await client.callTool(
          { name, arguments: args },
          { onprogress: ({ message }) => heard.push(message ?? '') },
        );
        await client.close();
        expect(heard).toEqual(['The tool ', 'said ', 'tea.']);
        expect(JSON.stringify(result)).toContain('The tool said tea.');
        const [first, second] = model.requests;
        expect(first).toMatchObject({ system: 'You help.', key: 'sk-of-the-model' });
        expect(first!.tools.map(tool => tool.name)).toEqual(['echo']);
        expect(JSON.stringify(second!.body)).toContain('from outside: tool');
        expect(toolServer.calls.at(-1)).toMatchObject({ tool: 'echo', args: { word: 'tea' } });
      }
    },
  );

  it('is heard word by word on REST, too: by who reads an operation, and by who invokes the agent', async () => {
    const [way] = ways;
    const agentId = `on-${way!.provider}-${way!.wire}`;
    const pieces = ['One ', 'word ', 'and another.'];
    model.play([{ text: pieces }, { text: pieces }]);
    const heard: [string, number][] = [];
    const answer = await rest.call(
      'chat_with_agent',
      { agentId, message: 'Say it.' },
      { onDelta: (text, index) => heard.push([text, index]) },
    );
    expect(heard).toEqual(pieces.map(piece => [piece, 0]));
    expect(answer.agentResponse).toBe('One word and another.');

    const response = await fetch(`${platform.url}/api/v1/agents/${agentId}/invoke`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${platform.operatorKey}`,
        'content-type': 'application/json',
        accept: 'text/event-stream',
      },
      body: JSON.stringify({ message: 'Say it.' }),
    });
    const events = (await allEvents(response)).map(({ data }) => data);
    expect(events.filter(({ type }) => type === 'delta').map(({ text }) => text)).toEqual(pieces);
    expect(events.at(-1)).toMatchObject({ type: 'done', data: { text: 'One word and another.' } });
  });

  it('ends the request to the model when the call is cancelled', async () => {
    const [way] = ways;
    const agentId = `on-${way!.provider}-${way!.wire}`;
    model.play([{ text: ['I think ', 'on and on.'], breaks: { after: 1, how: 'stall' } }]);
    const client = await clientAt(platform.agentUrl(agentId));
    const stop = new AbortController();
    const calling = client
      .callTool(
        { name: agentId, arguments: { message: 'Think.' } },
        { onprogress: () => stop.abort(), signal: stop.signal },
      )
      .catch(() => 'cancelled');
    expect(await calling).toBe('cancelled');
    await model.requests[0]!.gone;
    await client.close();
  });

  it('shows neither key nor address of the model to a caller when it cannot be asked (attack 46)', async () => {
    const [way] = ways;
    model.play([{ status: 401, message: 'bad key sk-of-the-model' }]);
    const call = rest.call('chat_with_agent', {
      agentId: `on-${way!.provider}-${way!.wire}`,
      message: 'Hello',
    });
    await expect(call).rejects.toThrow(/key/);
    await expect(call).rejects.not.toThrow(/sk-of-the-model|127\.0\.0\.1/);
    expect(JSON.stringify(platform.logLines())).not.toContain('sk-of-the-model');
  });
});
