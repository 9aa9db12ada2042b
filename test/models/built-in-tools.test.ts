import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startToolsRig, type ToolsRig } from './tools-rig.ts';

describe('Tools of the platform itself', () => {
  let rig: ToolsRig;
  beforeAll(async () => {
    rig = await startToolsRig();
  });
  afterAll(() => rig?.[Symbol.asyncDispose]());

  it('are there where a task asks for them, all or those it names', async () => {
    const offeredWith = async (task: object) => (await (await rig.agent(task)).say({ text: 'Hi.' })).offered;
    expect(await offeredWith({})).toEqual([]);
    expect(await offeredWith({ builtInToolsWhitelist: ['calculator'] })).toEqual([]);
    const enableBuiltInTools = true;
    expect(await offeredWith({ enableBuiltInTools })).toEqual(['calculator', 'datetime', 'dataformatter']);
    expect(await offeredWith({ enableBuiltInTools, builtInToolsWhitelist: ['datetime'] })).toEqual([
      'datetime',
    ]);
    await expect(rig.agent({ enableBuiltInTools, builtInToolsWhitelist: ['websearch'] })).rejects.toThrow(
      'builtInToolsWhitelist',
    );
  });

  it('answer the model, and tell it of its mistakes', async () => {
    const talk = await rig.agent({ enableBuiltInTools: true });
    const { told, response } = await talk.say(
      {
        calls: [
          { name: 'calculator', input: { expression: '6 * 7' } },
          { name: 'calculator', input: { expression: '6 *' } },
          { name: 'datetime', input: { operation: 'now', zone: 'Asia/Tokyo' } },
          { name: 'dataformatter', input: { operation: 'compact_json', data: '{ }' } },
        ],
      },
      { text: '42.' },
    );
    expect(told.map(({ text }) => text)).toEqual([
      '42',
      'INVALID_ARGUMENTS: it ends too early',
      expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+09:00 \(\w+day, Asia\/Tokyo\)$/),
      '{}',
    ]);
    expect(response).toBe('42.');
  });

  it('keep what they found where the turn waits behind them, and are asked about where a policy says so', async () => {
    const talk = await rig.agent(
      { enableBuiltInTools: true },
      { hitlConfig: { toolApprovals: { requireApproval: ['builtin:calculator'] } } },
    );
    const { answer } = await talk.say(
      {
        calls: [
          { name: 'calculator', input: { expression: '1 + 1' } },
          { name: 'datetime', input: { operation: 'now' } },
        ],
      },
      { text: 'Two.' },
    );
    expect(answer.status).toBe('PAUSED_FOR_APPROVAL');
    const { conversationId } = talk;
    await rig.client.call('resume_conversation', { conversationId, verdict: 'APPROVED' });
    await expect
      .poll(async () => (await rig.client.call('get_approval_status', { conversationId })).state, {
        timeout: 10_000,
      })
      .toBe('READY');
    const told = rig.model.requests.at(-1)!.messages.flatMap(one => (one.role === 'tool' ? [one.text] : []));
    expect(told).toEqual(['2', expect.stringContaining('UTC')]);
    expect(rig.model.requests).toHaveLength(2);
  });
});
