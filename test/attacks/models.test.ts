// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newMark } from '../connections/fault-rig.ts';
import { type FaultServer, startFaultServer, tool } from '../connections/servers/fault-server.ts';
import { startToolsRig, type ToolsRig } from '../models/tools-rig.ts';

/** Authors, models and servers that want more than they may. */
describe('An agent with a model', () => {
  let rig: ToolsRig;
  let server: FaultServer;
  beforeAll(async () => {
    rig = await startToolsRig({
      env: { PATCHBAY_LOG_LEVEL: 'debug', PATCHBAY_VAULT_KEY: randomBytes(32).toString('hex') },
    });
  });
  afterAll(() => rig?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    server = await startFaultServer('legacy');
    server.tools = [tool('buy')];
  });
  afterEach(() => server[Symbol.asyncDispose]());

  const buy = (mark: string, more: object = {}) => ({ name: 'shop__buy', input: { mark, ...more } });

  it('does not open the gate of a server by having the clock approve (attack 52)', async () => {
    await rig.register('shop', { url: server.url, gated: true });
    const auto = { timeoutPolicy: 'AUTO_APPROVE', approvalTimeout: 'PT1S' };
    const toolApprovals = { ...auto, rules: [{ match: '*', ...auto }] };
    const talk = await rig.agent({ mcpServers: ['shop'] }, { hitlConfig: { ...auto, toolApprovals } });
    const mark = newMark();
    await talk.say({ calls: [buy(mark)] }, { text: 'Done.' });
    const { conversationId } = talk;
    expect(await rig.client.call('get_approval_status', { conversationId })).toMatchObject({
      timeoutPolicy: 'WAIT_INDEFINITELY',
    });
    expect(server.executions(mark)).toBe(0);
    await rig.client.call('resume_conversation', { conversationId, verdict: 'APPROVED' });
    await expect.poll(() => server.executions(mark)).toBe(1);
  });
});
