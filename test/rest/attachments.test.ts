import { createClient } from '@patchbay/contract/client';
import type { TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { platforms } from '../doors/platforms.ts';
import { callTool } from '../doors/wire.ts';
import { agentsKey, answeringAgent, rest } from './rest-client.ts';

/** Says what kind of file came with the message, by a rule. */
const READER = {
  ...answeringAgent('reader', ''),
  rules: {
    behaviorGroups: [
      {
        name: 'kinds',
        rules: [
          {
            name: 'two tables',
            actions: ['tables'],
            conditions: [{ type: 'contentTypeMatcher', configs: { mimeType: 'text/csv', minCount: '2' } }],
          },
          {
            name: 'a picture',
            actions: ['picture'],
            conditions: [{ type: 'contentTypeMatcher', configs: { mimeType: 'image/*' } }],
          },
          { name: 'nothing', actions: ['nothing'] },
        ],
      },
    ],
  },
  output: {
    outputSet: ['tables', 'picture', 'nothing'].map(action => ({
      action,
      outputs: [{ valueAlternatives: [{ type: 'text', text: `I see: ${action}` }] }],
    })),
  },
};

describe.each(platforms)('attachments of $kind', ({ start }) => {
  let platform: TestPlatform;
  let key: string;
  beforeAll(async () => {
    platform = await start();
    key = await agentsKey(platform);
    await rest(platform.url, 'POST', '/agent-files', { key: platform.operatorKey, body: { file: READER } });
  });
  afterAll(() => platform?.close());

  /** Declared and, unless `pending`, uploaded. */
  async function file(
    options: { type?: string; size?: number; key?: string; pending?: boolean } = {},
  ): Promise<string> {
    const { type = 'text/csv', size = 4 } = options;
    const { body } = await rest(platform.url, 'POST', '/files/presign-upload', {
      key: options.key ?? key,
      body: { filename: 'a file', content_type: type, size },
    });
    if (options.pending) return body.file_id;
    const sent = await fetch(body.upload_url, {
      method: 'PUT',
      headers: { 'content-type': type },
      body: new Uint8Array(size),
    });
    expect(sent.status).toBe(200);
    return body.file_id;
  }

  /** The same call on both surfaces; answers the text, or status and message of the error. */
  const surfaces = {
    'the agent door': async (args: Record<string, unknown>, as = key) => {
      const { status, body } = await callTool(platform.agentUrl('reader'), 'reader', args, { key: as });
      return body.result
        ? { text: body.result.content[0].text, contextId: body.result.structuredContent.context_id }
        : { status, code: body.error.data.code, message: body.error.message };
    },
    REST: async (args: Record<string, unknown>, as = key) => {
      const { status, body } = await rest(platform.url, 'POST', '/agents/reader/invoke', {
        key: as,
        body: args,
      });
      return body.data
        ? { text: body.data.text, contextId: body.data.context_id }
        : { status, code: body.error.code, message: body.error.message };
    },
  };
  const each = Object.entries(surfaces);
  const named = (...ids: string[]) => ids.map(file_id => ({ file_id }));

  it.each(each)('reach the agent with the message, at %s (B-56, B-67)', async (_name, say) => {
    const picture = await file({ type: 'image/png' });
    const answer = await say({ message: 'look', attachments: named(picture) });
    expect(answer.text).toBe('I see: picture');
    const two = named(await file(), await file());
    expect((await say({ message: 'look', attachments: two })).text).toBe('I see: tables');
    expect((await say({ message: 'look', attachments: two.slice(1) })).text).toBe('I see: nothing');
    expect((await say({ message: 'look', attachments: [] })).text).toBe('I see: nothing');
    const operator = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
    const read = await operator.call('read_conversation', { conversationId: answer.contextId! });
    expect(read.conversationOutputs![0]).toMatchObject({
      attachments: [{ fileId: picture, fileName: 'a file', contentType: 'image/png', size: 4 }],
    });
  });

  it.each(each)(
    'that are not the caller’s uploaded files are refused by name, at %s (B-79)',
    async (_name, say) => {
      const mine = await file();
      const stranger = await agentsKey(platform, (await platform.addPerson(['patchbay-user'])).userId);
      for (const wrong of [
        await file({ key: stranger }),
        await file({ pending: true }),
        `file_${'a'.repeat(26)}`,
        '../../etc/passwd',
        '',
        mine,
      ]) {
        const answer = await say({ message: 'look', attachments: named(mine, wrong) });
        expect(answer, wrong).toMatchObject({ status: 400, code: 'invalid_param' });
        expect(answer.message, wrong).toContain('attachments[1].file_id');
      }
      for (const wrong of [{}, { file_id: 7 }, { file_id: null }, { filename: 'a' }]) {
        const answer = await say({ message: 'look', attachments: [wrong] });
        expect(answer).toMatchObject({ status: 400, code: 'invalid_param' });
        expect(answer.message).toContain('attachments[0].file_id');
      }
    },
  );

  it('of the owner do not open to an agent key', async () => {
    const { owner, keys } = platform.platform;
    const agentKey = await keys.createAgentKey(
      { id: owner.id, roles: new Set(), via: 'cli', credential: 'test', agents: { kind: 'own' } },
      { agentId: 'reader', name: 'test' },
    );
    const args = { message: 'look', attachments: named(await file()) };
    const answer = await surfaces['the agent door'](args, agentKey.token);
    expect(answer).toMatchObject({ status: 400, message: expect.stringContaining('attachments[0].file_id') });
  });

  it.each(each)('are five at the most with one message, at %s', async (_name, say) => {
    const six = named(...(await Promise.all(Array.from({ length: 6 }, () => file()))));
    expect(await say({ message: 'look', attachments: six })).toMatchObject({
      status: 400,
      code: 'invalid_param',
    });
    expect((await say({ message: 'look', attachments: six.slice(1) })).text).toBe('I see: tables');
  });

  it('are fifty at the most in one conversation', async () => {
    const ids = await Promise.all(Array.from({ length: 5 }, () => file()));
    const say = surfaces.REST;
    let contextId: string | undefined;
    for (let message = 0; message < 10; message += 1) {
      const answer = await say({
        message: 'look',
        attachments: named(...ids),
        ...(contextId && { context_id: contextId }),
      });
      expect(answer.text).toBe('I see: tables');
      ({ contextId } = answer);
    }
    const onTop = { message: 'look', attachments: named(ids[0]!), context_id: contextId };
    expect(await say(onTop)).toMatchObject({ status: 400, message: expect.stringContaining('50 files') });
    expect((await say({ ...onTop, attachments: [] })).text).toBe('I see: nothing');
  });

  it('are part of what an idempotency key stands for', async () => {
    const [first, second] = [await file(), await file()];
    const args = { message: 'look', idempotency_key: 'with a file', attachments: named(first) };
    const answer = await surfaces.REST(args);
    expect(await surfaces['the agent door'](args)).toEqual(answer);
    expect(await surfaces['the agent door']({ ...args, attachments: named(second) })).toMatchObject({
      status: 409,
    });
  });
});
