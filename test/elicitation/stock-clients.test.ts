import { randomUUID } from 'node:crypto';
import type { TestPlatform } from '@patchbay/testing/platform';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { platforms } from '../doors/platforms.ts';
import { ASKER, deployAsker, operate, PAID, PAY, REASON, waitingConversations } from './asking-agent.ts';
import {
  type Answered,
  type Asked,
  CLIENTS,
  type Open,
  type Result,
  type Stock,
  WAIT,
} from './stock-clients.ts';

describe.each(platforms)('a call that waits for a person at the agent door of $kind', ({ start }) => {
  let platform: TestPlatform;
  const opened: Stock[] = [];
  beforeAll(async () => {
    platform = await start();
    await deployAsker(platform);
  });
  afterEach(async () => {
    for (const client of opened.splice(0)) await client.close();
    for (const conversationId of await waitingConversations(platform))
      await operate(platform, 'cancel_conversation', { conversationId });
  });
  afterAll(() => platform?.close());

  describe.each(CLIENTS)('from $client', ({ open }) => {
    async function connect(answer?: Parameters<Open>[2]): Promise<Stock> {
      const client = await open(platform.agentUrl(ASKER), platform.operatorKey, answer);
      opened.push(client);
      return client;
    }
    const textOf = ({ content }: Result) => content[0].text as string;
    const stateOf = async (conversationId: string) =>
      (await operate(platform, 'read_conversation', { conversationId })).conversationState;

    it('asks in its midst who may approve, and goes on with the answer (B-63)', async () => {
      const asked: Asked[] = [];
      const pieces: string[] = [];
      const client = await connect(form => {
        asked.push(form);
        return { action: 'accept', content: { decision: 'approve' } };
      });
      const result = await client.call(PAY, piece => pieces.push(piece));
      expect(asked).toEqual([
        {
          ...asked[0],
          message: `The agent "Asking agent" (${ASKER}) waits for your approval: ${REASON}`,
          requestedSchema: expect.objectContaining({ required: ['decision'] }),
        },
      ]);
      expect(textOf(result)).toBe(PAID);
      expect(result.structuredContent).not.toHaveProperty('status');
      // A client of the stateless era tells its own that it repeats the call.
      expect(pieces.filter(piece => !piece.startsWith('Fulfilling input'))).toEqual(PAID.split('\n'));
      const conversationId = result.structuredContent.context_id;
      expect(await stateOf(conversationId)).toBe('READY');
      const { conversationSteps, userId } = await operate(platform, 'read_conversation', {
        conversationId,
        returnDetailed: true,
      });
      expect(conversationSteps[0].conversationStep).toContainEqual(
        expect.objectContaining({ key: 'hitl:decision_by', value: `mcp:${userId}` }),
      );
      // The conversation takes the next message.
      expect(textOf(await client.call({ message: 'hello', context_id: conversationId }))).toBe(
        'Something else.',
      );
    });

    it('takes a no with its reason, and declining for a no', async () => {
      const answers: Answered[] = [
        { action: 'accept', content: { decision: 'reject', note: 'Not today.' } },
        { action: 'decline' },
      ];
      const client = await connect(() => answers.shift()!);
      const refused = await client.call(PAY);
      expect(textOf(refused)).toBe('Not today.');
      const declined = await client.call(PAY);
      expect(textOf(declined)).toBe('');
      for (const { structuredContent } of [refused, declined])
        expect(await stateOf(structuredContent.context_id)).toBe('READY');
    });

    it.each([
      ['nobody answers', () => ({ action: 'cancel' as const })],
      ['the form is not filled in', () => ({ action: 'accept' as const, content: {} })],
      ['the answer fits no form', () => ({ action: 'accept' as const, content: { decision: 'yes' } })],
    ])('is answered with one text when %s, and the approval stays open', async (_name, answer) => {
      const client = await connect(answer);
      const result = await client.call(PAY);
      expect(textOf(result)).toContain('waits for an approval');
      expect(result.structuredContent).toMatchObject({ status: 'PAUSED_FOR_APPROVAL' });
      const conversationId = result.structuredContent.context_id;
      expect(await stateOf(conversationId)).toBe('AWAITING_HUMAN');
      expect(
        await operate(platform, 'resume_conversation', { conversationId, verdict: 'APPROVED' }),
      ).toMatchObject({ status: 'RESUMED' });
      await expect.poll(() => stateOf(conversationId), WAIT).toBe('READY');
    });

    it('is answered with one text where the client shows no forms', async () => {
      const client = await connect();
      const result = await client.call(PAY);
      expect(textOf(result)).toContain('waits for an approval');
      expect(result.structuredContent).toMatchObject({ status: 'PAUSED_FOR_APPROVAL' });
    });

    it('goes on when somebody else decides while the person is asked', async () => {
      const client = await connect(async () => {
        const [conversationId] = await waitingConversations(platform);
        await operate(platform, 'resume_conversation', { conversationId, verdict: 'APPROVED' });
        // Too late: of several answers the first counts (attack 52).
        return { action: 'accept', content: { decision: 'reject' } };
      });
      expect(textOf(await client.call(PAY))).toBe(PAID);
    });

    it('asks again when a call with an idempotency key is repeated before anybody has decided (B-66)', async () => {
      const answers: Answered[] = [
        { action: 'cancel' },
        { action: 'accept', content: { decision: 'approve' } },
      ];
      const client = await connect(() => answers.shift()!);
      const keyed = { ...PAY, idempotency_key: randomUUID() };
      const first = await client.call(keyed);
      const second = await client.call(keyed);
      expect(textOf(second)).toBe(PAID);
      expect(second.structuredContent.context_id).toBe(first.structuredContent.context_id);
    });
  });
});
