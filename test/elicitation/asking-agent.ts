import { createClient } from '@patchbay/contract/client';
import type { TestPlatform } from '@patchbay/testing/platform';
import { callTool } from '../doors/wire.ts';

export const ASKER = 'asker';
export const REASON = 'A payment needs a second pair of eyes.';
export const PAY = { message: 'pay' };

/** Deploys an agent that waits for a person before it pays, and answers in two bubbles what was decided. */
export async function deployAsker(
  platform: TestPlatform,
  hitlConfig: Record<string, unknown> = {},
  agent = ASKER,
): Promise<void> {
  const rule = (name: string, actions: string[], conditions: object[]) => ({ name, actions, conditions });
  const said = (expressions: string) => [{ type: 'inputmatcher', configs: { expressions } }];
  const text = (value: string) => ({ valueAlternatives: [{ type: 'text', text: value }] });
  const client = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
  await client.call('deploy_agent_file', {
    file: {
      agent,
      name: 'Asking agent',
      mcp_enabled: true,
      hitlConfig: { pauseReason: REASON, ...hitlConfig },
      dictionary: { words: [{ word: 'pay', expressions: 'pay' }] },
      rules: {
        behaviorGroups: [
          { name: 'pay', rules: [rule('pay', ['pay', 'PAUSE_CONVERSATION'], said('pay'))] },
          { name: 'else', rules: [rule('else', ['other'], said('unknown(*)'))] },
        ],
      },
      output: {
        outputSet: [
          {
            action: 'pay',
            outputs: [text('Paid: {{ memory.current.hitlDecision }}.'), text('That was all.')],
          },
          { action: 'other', outputs: [text('Something else.')] },
        ],
      },
    },
  });
}

export const PAID = 'Paid: APPROVED.\nThat was all.';

/** Asks an operation at the operator door. */
export async function operate(
  platform: Pick<TestPlatform, 'operatorUrl' | 'operatorKey'>,
  name: string,
  args: Record<string, unknown>,
  // biome-ignore lint/suspicious/noExplicitAny: an answer may be anything, tests look into it
): Promise<any> {
  const { body } = await callTool(platform.operatorUrl, name, args, { key: platform.operatorKey });
  if (body.result?.isError !== undefined) throw new Error(JSON.stringify(body.result));
  return body.result.structuredContent;
}

/** The conversations of the asking agent that wait for somebody. */
export async function waitingConversations(platform: TestPlatform): Promise<string[]> {
  const { approvals } = await operate(platform, 'list_pending_approvals', { limit: 50 });
  return approvals
    .filter(({ agentId }: { agentId: string }) => agentId === ASKER)
    .map(({ conversationId }: { conversationId: string }) => conversationId);
}
