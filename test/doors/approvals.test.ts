import type { TestPlatform } from '@patchbay/testing/platform';
import { startTestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { platforms } from './platforms.ts';
import { callTool, startTool, toolError } from './wire.ts';

let platform: TestPlatform;

const call = (name: string, args: Record<string, unknown>, key = platform.operatorKey) =>
  callTool(platform.operatorUrl, name, args, { key });
const answerOf = async (name: string, args: Record<string, unknown>, key?: string) => {
  const { body } = await call(name, args, key);
  expect(body.result.isError, JSON.stringify(body.result)).toBeUndefined();
  return body.result.structuredContent;
};
const pause = () => answerOf('chat_with_agent', { agentId: 'demo', message: 'Ask a person first' });

describe.each(platforms)('approvals at the operator door of $kind', ({ start }) => {
  beforeAll(async () => {
    platform = await start();
  });
  afterAll(() => platform?.close());

  it('are listed, looked at and given, and the turn goes on by itself (E-30)', async () => {
    const paused = await pause();
    expect(paused).toMatchObject({
      status: 'PAUSED_FOR_APPROVAL',
      conversationState: 'AWAITING_HUMAN',
      suggestNextTool: 'resume_conversation',
      agentId: 'demo',
    });
    const { conversationId } = paused;
    expect(
      await answerOf('talk_to_agent', { agentId: 'demo', conversationId, message: 'hello' }),
    ).toMatchObject({
      status: 'PAUSED_FOR_APPROVAL',
      conversationId,
    });
    const status = await answerOf('get_approval_status', { conversationId });
    expect(status).toMatchObject({ conversationId, state: 'AWAITING_HUMAN', pauseType: 'RULE' });
    expect(status).not.toHaveProperty('conversation');
    const full = await answerOf('get_approval_status', { conversationId, detail: 'full' });
    expect(full.conversation).toMatchObject({ conversationState: 'AWAITING_HUMAN' });
    for (const limit of ['10', 10, 'many']) {
      const { approvals } = await answerOf('list_pending_approvals', { limit });
      expect(approvals).toContainEqual(expect.objectContaining({ conversationId, pauseId: status.pauseId }));
    }
    expect(
      await answerOf('resume_conversation', { conversationId, verdict: 'approved', pauseId: status.pauseId }),
    ).toEqual({ status: 'RESUMED', conversationId, verdict: 'APPROVED' });
    const read = () => answerOf('read_conversation', { conversationId, returnDetailed: true });
    await expect.poll(async () => (await read()).conversationState, { timeout: 10_000 }).toBe('READY');
    const { conversationOutputs, conversationSteps, userId } = await read();
    expect(conversationOutputs[0]).toMatchObject({ hitlDecision: 'APPROVED', output: [{ type: 'text' }] });
    expect(conversationSteps[0].conversationStep).toContainEqual(
      expect.objectContaining({ key: 'hitl:decision_by', value: `mcp:${userId}` }),
    );
    expect(await answerOf('get_approval_status', { conversationId })).toEqual({
      conversationId,
      state: 'READY',
      ...{
        pauseType: '',
        pausedAt: '',
        pauseId: '',
        pauseReason: '',
        timeoutPolicy: '',
        approvalTimeout: '',
      },
    });
  });

  it('are refused with the code that says why (E-28, E-32)', async () => {
    const { conversationId } = await pause();
    const stranger = await platform.addPerson([]);
    const approver = await platform.addPerson(['patchbay-approver']);
    const errorOf = async (name: string, args: Record<string, unknown>, key?: string) =>
      toolError(await call(name, args, key));
    const resume = { conversationId, verdict: 'APPROVED' };
    expect(await errorOf('resume_conversation', { ...resume, verdict: 'maybe' })).toMatchObject({
      errorCode: 'BAD_REQUEST',
    });
    expect(await errorOf('resume_conversation', { ...resume, pauseId: 'pause_other' })).toMatchObject({
      errorCode: 'PAUSE_CHANGED',
    });
    expect(await errorOf('resume_conversation', resume, stranger.key)).toMatchObject({
      errorCode: 'FORBIDDEN',
    });
    expect(await errorOf('resume_conversation', { ...resume, conversationId: 'conv_none' })).toMatchObject({
      errorCode: 'NOT_FOUND',
    });
    expect(await answerOf('list_pending_approvals', {}, stranger.key)).toEqual({ count: 0, approvals: [] });
    expect(await answerOf('cancel_conversation', { conversationId }, approver.key)).toEqual({
      status: 'CANCELLED',
      conversationId,
    });
    expect(await errorOf('resume_conversation', resume)).toMatchObject({
      errorCode: 'WRONG_STATE',
      details: { currentState: 'EXECUTION_INTERRUPTED' },
    });
    // What an approver may see of others ends with the pause.
    expect(
      await errorOf('get_approval_status', { conversationId, detail: 'full' }, approver.key),
    ).toMatchObject({
      errorCode: 'FORBIDDEN',
    });
  });

  it('end a turn that runs, on whichever node, as its caller could', async () => {
    const { conversationId } = await answerOf('create_conversation', { agentId: 'demo' });
    // Takes more than a second of typing.
    const { answer } = await startTool(
      platform.operatorUrl,
      'talk_to_agent',
      { agentId: 'demo', conversationId, message: 'show progress' },
      { key: platform.operatorKey },
    );
    const stateOf = async () => (await answerOf('read_conversation', { conversationId })).conversationState;
    // The stream opens before the turn has begun.
    await expect.poll(stateOf).toBe('IN_PROGRESS');
    expect(await answerOf('cancel_conversation', { conversationId })).toEqual({
      status: 'CANCELLED',
      conversationId,
    });
    expect(toolError({ ...(await answer), body: (await answer).body.at(-1) })).toMatchObject({
      errorCode: 'CONFLICT',
    });
    const read = await answerOf('read_conversation', { conversationId, currentStepOnly: false });
    // Nothing of the message was stored, and the conversation takes the next one.
    expect(read).toMatchObject({ conversationState: 'READY', conversationOutputs: [{}] });
    expect(toolError(await call('cancel_conversation', { conversationId }))).toMatchObject({
      errorCode: 'WRONG_STATE',
      details: { currentState: 'READY' },
    });
  });

  it('are answered at the agent door with one text that says so', async () => {
    const { body } = await callTool(
      platform.agentUrl('demo'),
      'demo',
      { message: 'Ask a person first' },
      { key: platform.agentKey },
    );
    const { content, structuredContent, isError } = body.result;
    expect(isError).toBeUndefined();
    expect(content).toHaveLength(1);
    expect(content[0].text).toContain('waits for an approval');
    expect(structuredContent).toMatchObject({
      status: 'PAUSED_FOR_APPROVAL',
      context_id: expect.stringMatching(/^conv_/),
    });
  });
});

describe('approvals where MCP may not decide', () => {
  it('are read over MCP and decided over REST only (E-31)', async () => {
    platform = await startTestPlatform({ env: { PATCHBAY_MCP_HITL_MUTATIONS: 'false' } });
    try {
      const { conversationId } = await pause();
      for (const [name, args] of [
        ['resume_conversation', { conversationId, verdict: 'APPROVED' }],
        ['cancel_conversation', { conversationId }],
      ] as const) {
        expect(toolError(await call(name, args))).toMatchObject({
          errorCode: 'DISABLED',
          details: { property: 'mcp.hitlMutations' },
        });
      }
      expect(await answerOf('get_approval_status', { conversationId })).toMatchObject({
        state: 'AWAITING_HUMAN',
      });
      const response = await fetch(`${platform.url}/api/v1/conversations/${conversationId}/resume`, {
        method: 'POST',
        headers: { authorization: `Bearer ${platform.operatorKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ verdict: 'APPROVED' }),
      });
      expect(response.status).toBe(200);
    } finally {
      await platform.close();
    }
  });
});
