import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createClient, type Client as RestClient } from '@patchbay/contract/client';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { type ScriptedModel, startScriptedModel } from '@patchbay/testing/scripted-model';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startToolServer, type ToolServer } from '../mcpcalls/tool-server.ts';
import { WAYS } from './rig.ts';

const ways = WAYS.filter(({ own }) => own !== true);
const OBJECT = { htmlResponseText: 'Tea it is.', quickReplies: [{ value: 'Thanks' }], mood: 'fine' };

describe('an agent whose model answers with an object', () => {
  let platform: TestPlatform;
  let rest: RestClient;
  let model: ScriptedModel;
  let toolServer: ToolServer;
  let mcp: Client;
  beforeAll(async () => {
    [model, toolServer] = await Promise.all([startScriptedModel(), startToolServer('legacy')]);
    platform = await startTestPlatform({ env: { PATCHBAY_EGRESS_PRIVATE_HOSTS: '127.0.0.1' } });
    rest = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
    await rest.call('put_secret', { name: 'model-key', value: 'not a real key' });
    for (const { provider, wire } of ways) {
      const llm = {
        ...{ model: `${provider}:any`, apiKey: `\${vault:model-key}`, baseUrl: model.baseUrl(wire) },
        ...{ convertToObject: true, responseSchema: { type: 'object', required: ['htmlResponseText'] } },
      };
      const mcpcalls = { mcpServerUrl: toolServer.url, toolsWhitelist: ['echo'] };
      await rest.call('deploy_agent_file', {
        file: { agent: `on-${provider}-${wire}`, name: 'Object', llm, mcpcalls },
      });
    }
    mcp = new Client({ name: 'test', version: '1.0.0' });
    const headers = { authorization: `Bearer ${platform.operatorKey}` };
    await mcp.connect(
      new StreamableHTTPClientTransport(new URL(platform.operatorUrl), { requestInit: { headers } }),
    );
  });
  afterAll(async () => {
    await mcp?.close();
    await platform?.close();
    await Promise.all([model, toolServer].map(one => one?.[Symbol.asyncDispose]()));
  });

  async function talk(agentId: string) {
    const pieces: string[] = [];
    const { structuredContent } = await mcp.callTool(
      { name: 'chat_with_agent', arguments: { agentId, message: 'What shall I drink?' } },
      { onprogress: ({ message }) => pieces.push(message ?? '') },
    );
    return { answer: structuredContent as Record<string, unknown>, pieces };
  }

  describe.each(ways)('by $name', ({ provider, wire }) => {
    const agentId = `on-${provider}-${wire}`;

    it('says its text as a whole, also after a tool was called, and keeps all of it', async () => {
      const json = JSON.stringify(OBJECT);
      for (const text of [[json.slice(0, 20), json.slice(20)], `\`\`\`json\n${json}\n\`\`\``]) {
        model.play([{ calls: [{ name: 'echo', input: { word: 'tea' } }] }, { text }]);
        const { answer, pieces } = await talk(agentId);
        expect(pieces).toEqual(['Tea it is.']);
        expect(answer).toMatchObject({ agentResponse: 'Tea it is.', quickReplies: ['Thanks'] });
        const { conversationId } = answer as { conversationId: string };
        const read = await rest.call('read_conversation', { conversationId, returnDetailed: true });
        expect(JSON.stringify(read)).toContain('"mood":"fine"');
        expect(model.requests[0]!.system).toContain('Answer with one JSON object');
      }
    });

    it('says what is no object as it is', async () => {
      model.play([{ text: ['Tea, ', 'of course.'] }]);
      const { answer, pieces } = await talk(agentId);
      expect(answer.agentResponse).toBe('Tea, of course.');
      expect(pieces).toEqual(['Tea, of course.']);
      expect(answer.quickReplies ?? []).toEqual([]);
    });
  });
});
