import type { Client } from '@patchbay/contract/client';
import { expect, it } from 'vitest';
import { decideInline } from './inline-approval.ts';
import { createTestIo } from './testing/test-io.ts';

it('Nothing is decided that was not asked about: the approval was given elsewhere, and now the conversation waits for another one', async () => {
  const called: string[] = [];
  const answers: Readonly<Record<string, unknown>> = {
    get_approval_status: { pauseId: 'pause_of_a_rule', pauseType: 'RULE' },
    read_conversation: { conversationState: 'AWAITING_HUMAN' },
  };
  const client = {
    async call(name: string) {
      called.push(name);
      return answers[name];
    },
  } as unknown as Client;
  const ask = async () => expect.fail('nobody is asked');
  const { signal } = new AbortController();
  const read = await decideInline(createTestIo({ home: '/' }), client, 'conv_a', ask, signal);
  expect(read).toEqual({ conversationState: 'AWAITING_HUMAN' });
  expect(called).toEqual(['get_approval_status', 'read_conversation']);
});
