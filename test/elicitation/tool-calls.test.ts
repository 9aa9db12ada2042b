import { createClient } from '@patchbay/contract/client';
import type { TestPlatform } from '@patchbay/testing/platform';
import { type ScriptedModel, startScriptedModel } from '@patchbay/testing/scripted-model';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { newMark } from '../connections/fault-rig.ts';
import { type FaultServer, startFaultServer, tool } from '../connections/servers/fault-server.ts';
import { platforms } from '../doors/platforms.ts';
import { type Answered, CLIENTS, type Stock } from './stock-clients.ts';

const BUYER = 'buyer';

describe.each(platforms)('calls of a model that a person approves in the chat, at $kind', ({ start }) => {
  let platform: TestPlatform;
  let model: ScriptedModel;
  let server: FaultServer;
  const opened: Stock[] = [];
  beforeAll(async () => {
    [model, server] = await Promise.all([startScriptedModel(), startFaultServer('legacy')]);
    server.tools = [tool('buy')];
    platform = await start({ env: { PATCHBAY_EGRESS_PRIVATE_HOSTS: '127.0.0.1' } });
    const rest = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
    const { nodes = [platform] } = platform as TestPlatform & { nodes?: (typeof platform)[] };
    for (const node of nodes)
      await node.platform.registry.add({
        ...{ instance: 'default', name: 'shop', replace: true, by: 'test' },
        options: { url: server.url, gated: true },
      });
    const parameters = { model: 'any', baseUrl: model.baseUrl('chat-completions') };
    const llm = {
      tasks: [{ id: 'main', type: 'openai-compatible', parameters, mcpServers: ['shop'] }],
    };
    await rest.call('deploy_agent_file', { file: { agent: BUYER, name: 'Buyer', mcp_enabled: true, llm } });
  });
  afterEach(async () => {
    for (const client of opened.splice(0)) await client.close();
  });
  afterAll(async () => {
    await platform?.close();
    await Promise.all([model, server].map(one => one?.[Symbol.asyncDispose]()));
  });

  /** The model makes these calls, one an answer, each after a word of its own. */
  const wantsToBuy = (...marks: string[]) =>
    model.play([
      ...marks.map((mark, index) => ({
        text: [`Buying ${index}`, ' now.'],
        calls: [{ name: 'shop__buy', input: { mark } }],
      })),
      { text: ['Done.'] },
    ]);

  describe.each(CLIENTS)('from $client', ({ open }) => {
    async function call(answers: Answered[]) {
      const asked: string[] = [];
      const pieces: string[] = [];
      const client = await open(platform.agentUrl(BUYER), platform.operatorKey, ({ message }) => {
        asked.push(message);
        return answers.shift()!;
      });
      opened.push(client);
      const result = await client.call({ message: 'Buy it.' }, piece => pieces.push(piece));
      const own = pieces.filter(piece => !piece.startsWith('Fulfilling input'));
      return { asked, text: result.content[0].text, pieces: own };
    }
    const approve = { action: 'accept', content: { decision: 'approve' } } as const;

    it('are asked about one after the other, and sent once each as they were shown', async () => {
      const marks = [newMark(), newMark()];
      wantsToBuy(...marks);
      const { asked, text, pieces } = await call([approve, approve]);
      expect(asked).toEqual(
        marks.map(mark => expect.stringContaining(`1. shop__buy of default/shop with {"mark":"${mark}"}`)),
      );
      expect(marks.map(mark => server.executions(mark))).toEqual([1, 1]);
      expect(text).toBe('Buying 0 now.\nBuying 1 now.\nDone.');
      // Each piece once, in order, whichever node ran which part of the turn.
      expect(pieces.join('')).toBe('Buying 0 now.Buying 1 now.Done.');
    });

    it('are not made when the person says no, and the model hears of it', async () => {
      const mark = newMark();
      wantsToBuy(mark);
      const { text } = await call([{ action: 'accept', content: { decision: 'reject', note: 'Too dear' } }]);
      expect(server.executions(mark)).toBe(0);
      expect(text).toContain('Done.');
      expect(JSON.stringify(model.requests.at(-1)!.body)).toContain('Too dear');
    });
  });
});
