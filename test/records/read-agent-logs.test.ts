import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { StepType } from '../../packages/server/src/agents/step/step.ts';
import { STEP_TYPES } from '../../packages/server/src/agents/turn/steps.ts';
import { platforms } from '../doors/platforms.ts';
import { callTool, toolError } from '../doors/wire.ts';

/** Rules that break when somebody says so, as a mistake of ours would. */
const breakable = STEP_TYPES.map(
  (type): StepType =>
    type.type !== 'rules'
      ? type
      : {
          type: type.type,
          async compile(step, load) {
            const real = await type.compile(step, load);
            return {
              ...real,
              run(memory, tools) {
                if (memory.input === 'break') throw new Error('a reason for the server log');
                return real.run(memory, tools);
              },
            };
          },
        },
);

let platform: TestPlatform;

interface Logs {
  readonly count: number;
  readonly entries: readonly Record<string, unknown>[];
}

async function read(args: Record<string, unknown>, key = platform.operatorKey): Promise<Logs> {
  const answer = await callTool(platform.operatorUrl, 'read_agent_logs', args, { key });
  expect(toolError(answer)).toBeUndefined();
  return answer.body.result.structuredContent;
}

/** A conversation of the person whose first message failed. */
async function brokenConversation(key: string): Promise<string> {
  const answer = await callTool(
    platform.operatorUrl,
    'chat_with_agent',
    { agentId: 'demo', message: 'break' },
    { key },
  );
  const { errorCode, details } = toolError(answer) as { errorCode: string; details: object };
  expect(errorCode).toBe('INTERNAL');
  const log = platform.logLines().findLast(line => line.message === 'A step of a turn failed')!;
  expect(JSON.stringify(details)).not.toContain('a reason');
  return String(log.conversationId);
}

/** The node that answers may be another one: it has warnings and errors after some seconds. Nodes answer in turns. */
async function untilLogged(args: Record<string, unknown>, key?: string): Promise<Logs> {
  return vi.waitFor(
    async () => {
      const logs = await read(args, key);
      expect(logs.count).toBeGreaterThan(0);
      expect(await read(args, key)).toEqual(logs);
      return logs;
    },
    { timeout: 15_000, interval: 100 },
  );
}

describe.each(platforms)('the log at the doors of $kind', ({ kind, start }) => {
  beforeAll(async () => {
    platform = await start({ env: { PATCHBAY_LOG_LEVEL: 'debug' }, overrides: { stepTypes: breakable } });
  });
  afterAll(() => platform?.close());

  it('says by conversation what failed: to a stock client, and the same on REST (E-24, E-58)', async () => {
    const conversationId = await brokenConversation(platform.operatorKey);
    const { entries, ...rest } = await untilLogged({ conversationId, level: 'ERROR' });
    expect(rest).toEqual({ count: 1, limit: 50, conversationId, level: 'ERROR' });
    expect(entries[0]).toMatchObject({
      level: 'ERROR',
      loggerName: 'turns',
      message: 'A step of a turn failed',
      environment: 'production',
      agentId: 'demo',
      agentVersion: 1,
      conversationId,
      userId: platform.platform.owner.id,
      instanceId: expect.stringMatching(/^node_/),
      details: { step: 'rules', error: { message: 'a reason for the server log' } },
    });

    const client = new Client({ name: 'a stock client', version: '1' });
    await client.connect(
      new StreamableHTTPClientTransport(new URL(platform.operatorUrl), {
        requestInit: { headers: { authorization: `Bearer ${platform.operatorKey}` } },
      }),
    );
    const args = { conversationId, level: 'ERROR' };
    const { structuredContent } = await client.callTool({ name: 'read_agent_logs', arguments: args });
    await client.close();
    const onRest = await fetch(`${platform.url}/api/v1/logs?${new URLSearchParams(args)}`, {
      headers: { authorization: `Bearer ${platform.operatorKey}` },
    });
    expect(structuredContent).toEqual({ ...rest, entries });
    expect(await onRest.json()).toEqual(structuredContent);
  });

  it('is told to a viewer for own conversations, without the reasons (E-24, E-58)', async () => {
    // A viewer owns no agent, so an admin has made the conversation theirs.
    const conversationId = await brokenConversation(platform.operatorKey);
    const viewer = await platform.addPerson(['patchbay-viewer']);
    const refused = await callTool(
      platform.operatorUrl,
      'read_agent_logs',
      { conversationId },
      { key: viewer.key },
    );
    expect(toolError(refused)).toEqual({
      error: 'Access denied: you do not own this conversation.',
      errorCode: 'FORBIDDEN',
    });
    await platform.platform.store.db
      .updateTable('conversations')
      .set({ user_id: viewer.userId })
      .where('id', '=', conversationId)
      .execute();
    const { entries } = await untilLogged({ conversationId, level: 'ERROR' }, viewer.key);
    expect(entries[0]).toMatchObject({ message: 'A step of a turn failed', conversationId });
    expect(JSON.stringify(entries)).not.toContain('a reason');
  });

  it('is whole for admins only: without conversationId everybody else is refused (E-60)', async () => {
    const viewer = await platform.addPerson(['patchbay-viewer']);
    for (const args of [{}, { agentId: 'demo' }, { conversationId: null }]) {
      const answer = await callTool(platform.operatorUrl, 'read_agent_logs', args, { key: viewer.key });
      expect(toolError(answer)).toEqual({
        error: 'read_agent_logs without conversationId requires one of roles: patchbay-admin.',
        errorCode: 'FORBIDDEN',
      });
    }
    const { entries } = await untilLogged({ agentId: 'demo', level: 'WARN' });
    expect(new Set(entries.map(({ agentId }) => agentId))).toEqual(new Set(['demo']));
    expect(new Set(entries.map(({ level }) => level))).toEqual(new Set(['ERROR']));
  });

  it.skipIf(kind === 'two nodes')(
    'tells at debug which rules held in a turn, and nothing that was said',
    async () => {
      const answer = await callTool(
        platform.operatorUrl,
        'chat_with_agent',
        { agentId: 'demo', message: 'my word is xylophone, hello' },
        { key: platform.operatorKey },
      );
      const { conversationId } = answer.body.result.structuredContent;
      const { entries } = await read({ conversationId });
      expect(entries).toMatchObject([
        { level: 'DEBUG', message: 'A turn was played', conversationId, agentId: 'demo', agentVersion: 1 },
      ]);
      const { steps } = entries[0]!.details as { steps: { rules: string[] }[] };
      expect(steps).toHaveLength(2);
      expect(steps[0]!.rules.length).toBeGreaterThan(0);
      expect(JSON.stringify(entries)).not.toContain('xylophone');
      expect((await read({ conversationId, level: 'INFO' })).count).toBe(0);
    },
  );
});
