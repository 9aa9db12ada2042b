import { ClientError, createClient } from '@patchbay/contract/client';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

describe('an answer that is read while it is given', () => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await startTestPlatform();
  });
  afterAll(() => platform?.close());

  const clientWith = (token: string) => createClient({ baseUrl: platform.url, token, fetch });

  it('is heard bubble by bubble, and is the same as the one that is waited for', async () => {
    const client = clientWith(platform.operatorKey);
    const heard: [string, number][] = [];
    const call = { agentId: 'demo', message: 'what can you do' };
    const streamed = await client.call('chat_with_agent', call, {
      onDelta: (text, index) => heard.push([text, index]),
    });
    const waited = await client.call('chat_with_agent', call);
    const texts = waited.agentResponseParts ?? [waited.agentResponse!];
    expect(heard).toEqual(texts.map((text, index) => [text, index]));
    expect({ ...streamed, conversationId: '', response: {} }).toEqual({
      ...waited,
      conversationId: '',
      response: {},
    });
  });

  it('of a conversation that cannot take the message is its status', async () => {
    const client = clientWith(platform.operatorKey);
    const { conversationId } = await client.call('chat_with_agent', { agentId: 'demo', message: 'hello' });
    const call = { agentId: 'demo', conversationId: conversationId!, message: 'show progress' };
    const both = await Promise.all([
      client.call('talk_to_agent', call, { onDelta: () => undefined }),
      client.call('talk_to_agent', call, { onDelta: () => undefined }),
    ]);
    expect(both.map(({ status }) => status ?? 'answered').toSorted()).toEqual(['BUSY', 'answered']);
  });

  it('is refused before it begins with the status of the refusal', async () => {
    const call = clientWith('oag_nobody').call(
      'chat_with_agent',
      { agentId: 'demo', message: 'hello' },
      { onDelta: () => undefined },
    );
    const thrown = await call.catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(ClientError);
    expect(thrown).toMatchObject({ status: 401 });
  });
});
