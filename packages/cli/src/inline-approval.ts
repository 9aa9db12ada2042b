import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, ClientError } from '@patchbay/contract/client';
import type { ConversationSnapshot } from '@patchbay/contract/operations/conversation';
import type { Io } from './io.ts';
import { pendingCallText } from './pending-calls.ts';
import { writeLine } from './text.ts';

/** Asks whoever sits at the terminal; `undefined` when they have left. */
export type AskPerson = (question: string) => Promise<string | undefined>;

/** How often a turn is looked after that goes on by itself. */
const LOOK_AGAIN_MS = 300;

/**
 * Has the person at the terminal decide about the calls that a conversation waits for, one by one; anything but yes is no. Resolves with the
 * conversation once its turn has gone on and ended or waits again; `undefined` when they left without deciding.
 */
export async function decideInline(
  io: Io,
  client: Client,
  conversationId: string,
  ask: AskPerson,
  signal: AbortSignal,
): Promise<ConversationSnapshot | undefined> {
  const { pauseId, pendingToolCalls: calls = [] } = await client.call('get_approval_status', {
    conversationId,
    detail: 'full',
  });
  // Decided elsewhere meanwhile: what it waits for now is another question.
  if (calls.length === 0) return settled(client, conversationId, signal);
  const refused: string[] = [];
  for (const call of calls) {
    writeLine(io.stdout, pendingCallText(call));
    const said = await ask('Allow this call? [y/N] ');
    if (said === undefined) return undefined;
    if (!/^y(?:es)?$/i.test(said.trim())) refused.push(call.callId);
  }
  const isAllRefused = refused.length === calls.length;
  const decision = {
    ...{ conversationId, pauseId, verdict: isAllRefused ? 'REJECTED' : 'APPROVED' },
    ...(!isAllRefused &&
      refused.length > 0 && {
        toolDecisions: Object.fromEntries(refused.map(callId => [callId, { verdict: 'REJECTED' }])),
      }),
  };
  await client.call('resume_conversation', decision).catch(thrown => {
    if (!(thrown instanceof ClientError) || thrown.status !== 409) throw thrown;
    writeLine(io.stderr, 'It was decided elsewhere meanwhile.');
  });
  return settled(client, conversationId, signal);
}

async function settled(
  client: Client,
  conversationId: string,
  signal: AbortSignal,
): Promise<ConversationSnapshot> {
  for (;;) {
    const read = await client.call('read_conversation', { conversationId }, { signal });
    if (read.conversationState !== 'IN_PROGRESS') return read;
    await sleep(LOOK_AGAIN_MS, undefined, { signal });
  }
}
