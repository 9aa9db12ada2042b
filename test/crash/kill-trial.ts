import { once } from 'node:events';
import { startPlatformProcess } from '@patchbay/testing/platform-process';

export interface KillTrial {
  /** Messages the platform had answered before it died. */
  readonly acknowledged: number;
  /** Where the stored conversations differ from what was acknowledged; empty when nothing was lost or doubled. */
  readonly complaints: readonly string[];
}

/**
 * Starts the real command, talks in several conversations at once, kills the process without a warning at a random moment,
 * starts it again on the same data and compares: every acknowledged message stored once and in order, at most the one in
 * flight besides, and every conversation open for the next message at once.
 */
export async function killTrial(options: {
  readonly dataDir: string;
  readonly databaseUrl?: string | undefined;
  readonly conversations: number;
  /** Milliseconds of talking before the kill. */
  readonly killAfterMs: number;
}): Promise<KillTrial> {
  const first = await startPlatformProcess(options);
  const spoken = await Promise.all(
    Array.from({ length: options.conversations }, async () => {
      const { conversationId } = await first.client.call('create_conversation', { agentId: 'demo' });
      return { conversationId, acknowledged: [] as string[], inFlight: '' };
    }),
  );
  const talking = Promise.allSettled(
    spoken.map(async conversation => {
      for (let count = 1; ; count += 1) {
        conversation.inFlight = `message ${count}`;
        await first.client.call('talk_to_agent', {
          agentId: 'demo',
          conversationId: conversation.conversationId,
          message: conversation.inFlight,
        });
        conversation.acknowledged.push(conversation.inFlight);
      }
    }),
  );
  await new Promise(resolve => setTimeout(resolve, options.killAfterMs));
  first.process.kill('SIGKILL');
  await once(first.process, 'exit');
  await talking;

  const second = await startPlatformProcess(options);
  const complaints: string[] = [];
  for (const { conversationId, acknowledged, inFlight } of spoken) {
    const { conversationOutputs = [] } = await second.client.call('read_conversation', {
      conversationId,
      currentStepOnly: false,
    });
    const stored = conversationOutputs.flatMap(({ input }) => input ?? []);
    const withInFlight = [...acknowledged, inFlight];
    if (!equal(stored, acknowledged) && !equal(stored, withInFlight)) {
      complaints.push(
        `${conversationId}: acknowledged ${acknowledged.length}, stored ${JSON.stringify(stored.slice(-3))} of ${stored.length}`,
      );
    }
    const next = await second.client.call('talk_to_agent', {
      agentId: 'demo',
      conversationId,
      message: 'still there?',
    });
    if (next.conversationState !== 'READY')
      complaints.push(`${conversationId}: ${next.status ?? next.conversationState} after the restart`);
  }
  second.process.kill('SIGTERM');
  const [code] = await once(second.process, 'exit');
  if (code !== 0) complaints.push(`the restarted platform ended with ${code}`);
  return { acknowledged: spoken.reduce((sum, { acknowledged }) => sum + acknowledged.length, 0), complaints };
}

function equal(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((text, index) => text === right[index]);
}
