import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Client, createClient } from '@patchbay/contract/client';

const COMMAND = fileURLToPath(new URL('../../packages/cli/bin/patchbay.mjs', import.meta.url));
const START_TIMEOUT_MS = 30_000;

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
  const first = await start(options);
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

  const second = await start(options);
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

async function start(options: {
  readonly dataDir: string;
  readonly databaseUrl?: string | undefined;
}): Promise<{ process: ChildProcess; client: Client }> {
  const ownerFile = join(options.dataDir, 'local-owner');
  const before = await readFile(ownerFile, 'utf8').catch(() => '');
  const child = spawn(process.execPath, [COMMAND, 'up'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOME: options.dataDir,
      PATCHBAY_DATA_DIR: options.dataDir,
      PATCHBAY_PORT: '0',
      ...(options.databaseUrl && { PATCHBAY_DATABASE_URL: options.databaseUrl }),
    },
  });
  let errors = '';
  child.stderr?.on('data', chunk => {
    errors += chunk;
  });
  for (const deadline = Date.now() + START_TIMEOUT_MS; ; ) {
    const written = await readFile(ownerFile, 'utf8').catch(() => '');
    if (written !== '' && written !== before) {
      const { url, token } = JSON.parse(written) as { url: string; token: string };
      return { process: child, client: createClient({ baseUrl: url, token, fetch }) };
    }
    if (child.exitCode !== null || Date.now() > deadline)
      throw new Error(`The platform did not start: ${errors}`);
    await new Promise(resolve => setTimeout(resolve, 20));
  }
}

function equal(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((text, index) => text === right[index]);
}
